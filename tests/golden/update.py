"""Rewrites the expectations of golden tests that keep a whole output: ./dev golden --update. Review the diff.

Such a test has one RUN line that ends in `| FileCheck %s --match-full-lines`, and the line `; EXPECT: all output`. What
stands in CHECK lines below that line is replaced by what the command prints now.
"""
import pathlib
import re
import subprocess
import sys

MARK = "; EXPECT: all output\n"
RUN = re.compile(r"; RUN: (.*) \| FileCheck %s --match-full-lines\n")

build = pathlib.Path(sys.argv[1])
golden = pathlib.Path(__file__).parent


def output_of(command, path):
    command = command.replace("%s", str(path)).replace("%plugins", str(build / "plugins"))
    for tool in (build / "bin").iterdir():
        command = re.sub(rf"(?<![-/\w]){tool.name}(?![-\w/])", str(tool), command)
    return subprocess.run(command, shell=True, capture_output=True, text=True, check=True).stdout


def check_lines(output):
    for number, line in enumerate(output.splitlines()):
        text = re.sub(r"\{\{|\[\[", lambda match: "{{" + re.escape(match.group()) + "}}", line)
        directive = "CHECK" if number == 0 else "CHECK-NEXT" if text else "CHECK-EMPTY"
        yield f"; {directive}: {text}".rstrip() + "\n"


for path in sorted(golden.rglob("*.bvmasm")) + sorted(golden.rglob("*.test")):
    text = path.read_text()
    command = RUN.search(text)
    if MARK not in text or not command:
        continue
    head, rest = text.split(MARK)
    rest = re.sub(r"^; CHECK.*\n", "", rest, flags=re.MULTILINE)
    new = head + MARK + "".join(check_lines(output_of(command.group(1), path))) + rest
    if new != text:
        path.write_text(new)
        print(f"updated {path.relative_to(golden)}")
