"""Puts device code into a program: embed.py program.bvmasm name=file ... writes the program with `file "name"` replaced by the
bytes of the file."""
import pathlib
import re
import sys

program = pathlib.Path(sys.argv[1]).read_text(encoding="utf-8")
files = dict(argument.split("=", 1) for argument in sys.argv[2:])


def hex_of(match):
    digits = pathlib.Path(files[match.group(1)]).read_bytes().hex()
    lines = [digits[i:i + 128] for i in range(0, len(digits), 128)]
    return "hex " + "\n  ".join(f'"{line}"' for line in lines)


sys.stdout.write(re.sub(r'(?<== )file "([^"]+)"', hex_of, program))
