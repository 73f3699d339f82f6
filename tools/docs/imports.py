"""The table of imports in modules/hal_module/README.md, from modules/hal_module/imports.inc.

    python3 tools/docs/imports.py            writes the table
    python3 tools/docs/imports.py --check    exits 1 when it is stale
"""
import pathlib
import re
import sys

ROOM = pathlib.Path(__file__).resolve().parents[2] / "modules/hal_module"
PAGE = ROOM / "README.md"
ROW = re.compile(r'^IMPORT\("([^"]+)", "([^"]*)", "([^"]*)", [^"]+, "([^"]*)"\)$', re.MULTILINE)
TABLE = re.compile(r"^\| import \|.*?\n\n", re.MULTILINE | re.DOTALL)


def table(rows):
    lines = ["| import | arguments, results | |", "|---|---|---|"]
    for name, arguments, results, meaning in rows:
        signature = f"({arguments})" + (f" -> {results}" if results else "")
        lines.append(f"| `{name}` | `{signature}` | {meaning} |".replace("|  |", "| |"))
    return "\n".join(lines) + "\n\n"


def main():
    text = (ROOM / "imports.inc").read_text()
    rows = ROW.findall(text)
    problems = []
    if len(rows) != text.count("\nIMPORT("):
        problems.append("modules/hal_module/imports.inc has a row that is not one line of four texts and a function")
    page = PAGE.read_text()
    fresh, replaced = TABLE.subn(lambda _: table(rows), page)
    if replaced != 1:
        problems.append(f"modules/hal_module/README.md has {replaced} tables of imports")
    elif "--check" not in sys.argv:
        PAGE.write_text(fresh)
    elif fresh != page:
        problems.append("modules/hal_module/README.md is stale: run python3 tools/docs/imports.py")
    for problem in problems:
        print(problem)
    print(f"{len(problems)} problems in {len(rows)} imports")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
