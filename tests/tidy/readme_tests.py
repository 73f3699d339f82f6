"""Tests that READMEs name, as `Suite.Test` or `golden/x.test`, are there."""
import re

from house import SOURCE, files, finish, read

defined = set()
for path in files(".cpp"):
    if path.parts[0] == "tests":
        defined.update(".".join(pair) for pair in re.findall(r"^TEST(?:_[FP])?\((\w+), (\w+)\)", read(path), re.MULTILINE))
problems, checked = [], 0
for path in files(".md"):
    for row in re.findall(r"^\|.*\|$", read(path), re.MULTILINE):
        for name in re.findall(r"`(\w+Test\.\w+)`", row):
            checked += 1
            if name not in defined:
                problems.append(f"{path}: there is no test {name}")
        for name in re.findall(r"`((?:golden|fuzz)/[\w/]+\.\w+)`", row):
            checked += 1
            if not (SOURCE / "tests" / name).is_file():
                problems.append(f"{path}: there is no file tests/{name}")
finish(problems, checked)
