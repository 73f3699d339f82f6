"""Tests that tables in READMEs name, as `Suite.Test`, `golden/x.test`, `tests/x.py` or a name of ctest's, are there; and what
attacks found has a test or stands in SECURITY.md."""
import re

from house import SOURCE, files, finish, read

SUITES = re.compile(r"^(?:TYPED_)?TEST(?:_[FP])?\((\w+), (\w+)\)", re.MULTILINE)
CTEST = re.compile(r"\badd_test\(NAME ([\w.-]+(?:\$\{\w+\})?)")
ATTACKS, ATTACKED = "## What attacks found", 18

defined, ctest = set(), set()
for path in files(".cpp", ".txt"):
    if path.parts[0] == "tests":
        defined.update(".".join(pair) for pair in SUITES.findall(read(path)))
        ctest.update(name.partition("$")[0] for name in CTEST.findall(read(path)))
starts = tuple(name for name in ctest if name.endswith("."))
problems, checked = [], 0
for path in files(".md"):
    for row in re.findall(r"^\|.*\|$", read(path), re.MULTILINE):
        for name in re.findall(r"`([A-Z]\w+\.[A-Z]\w+)`", row):
            if not name.split(".")[0].endswith("Test") and path.parts != ("tests", "README.md"):
                continue  # A member of a class, perhaps.
            checked += 1
            if name not in defined:
                problems.append(f"{path}: there is no test {name}")
        for name in re.findall(r"`((?:golden|fuzz|tests)/[\w/.-]+\.\w+)`", row):
            checked += 1
            if not (SOURCE / ("" if name.startswith("tests/") else "tests") / name).is_file():
                problems.append(f"{path}: there is no file {name}")
        for name in re.findall(r"`((?:compiler|gpu|install|programs)\.[\w.-]+)`", row):
            checked += path.parts == ("tests", "README.md")
            if path.parts == ("tests", "README.md") and name not in ctest and not name.startswith(starts):
                problems.append(f"{path}: ctest has no {name}")
table = read(SOURCE / "tests/README.md").partition(ATTACKS)[2].partition("\n## ")[0]
for number in range(1, ATTACKED + 1):
    checked += 1
    row = re.search(rf"^\| {number} \|.*\| (.*) \|$", table, re.MULTILINE)
    if not row or not re.search(r"`[\w.]*\.\w+`|`golden/", row[1]) and "SECURITY.md" not in row[1]:
        problems.append(f"tests/README.md: '{ATTACKS[3:]}' {number} has neither a test nor a place in SECURITY.md")
finish(problems, checked)
