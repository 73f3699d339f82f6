#!/usr/bin/env python3
"""Runs the commands of a sample's README as they stand, and compares what they print: check_readme.py README.md BUILD.

A command is a line "$ ..." of a fenced block; the lines after it, up to the next command or the end of the block, are what it
prints; a line `...` there stands for any lines. `./dev build` was done by whoever runs this; build/release is BUILD. Commands run in the root of the tree.
"""
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
readme, build = pathlib.Path(sys.argv[1]).resolve(), os.path.relpath(sys.argv[2], ROOT)


def commands():
    for block in re.findall(r"^```\w*\n(.*?)^```", readme.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE):
        for command, output in re.findall(r"^\$ (.*\n)((?:(?!\$ ).*\n)*)", block, re.MULTILINE):
            yield command.strip(), output


def agrees(printed, expected):
    pattern = "".join("(?:.*\\n)*" if line == "...\n" else re.escape(line) for line in expected.splitlines(keepends=True))
    return re.fullmatch(pattern, printed) is not None


checked = failed = 0
for command, expected in commands():
    if command.startswith("./dev build"):
        continue
    checked += 1
    command = command.replace("build/release", build)
    run = subprocess.run(["bash", "-o", "pipefail", "-c", command], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                         text=True, timeout=50)
    if not agrees(run.stdout, expected):
        failed += 1
        print(f"$ {command}\nprinted (exit code {run.returncode}):\n{run.stdout}\nREADME.md says:\n{expected}")
print(f"{failed} of {checked} commands differ")
sys.exit(1 if failed or not checked else 0)
