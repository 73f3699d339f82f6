"""Writes what a part of `./dev test --full` counted into the table of tests/README.md.

  python3 tests/record_full.py PART SECONDS LOG     the log's last line is "N passed, N failed, ..."
"""

import datetime
import pathlib
import subprocess
import sys

README = pathlib.Path(__file__).parent / "README.md"
HEAD = "| part | commit | date | counts | minutes |"


def git(*arguments):
    return subprocess.run(["git", "-C", README.parent, *arguments], capture_output=True, text=True).stdout.strip()


def main(part, seconds, log):
    lines = [line.strip() for line in pathlib.Path(log).read_text(encoding="utf-8", errors="replace").splitlines() if line.strip()]
    counts = lines[-1].replace("|", "/") if lines else "nothing was printed"
    if "failed" not in counts:
        sys.exit(f"record_full: {part}: the last line of {log} is no count: {counts}")
    commit = git("rev-parse", "--short=10", "HEAD") or "unknown"
    if git("status", "--porcelain", "--untracked-files=no", "--", ":!tests/README.md", ":!tests/fuzz/README.md"):
        commit += " and changes"
    today = datetime.datetime.now(datetime.timezone.utc).date()
    text = README.read_text(encoding="utf-8").split("\n")
    begin = text.index(HEAD) + 2
    end = begin
    while text[end].startswith("|"):
        end += 1
    rows = {row.split("|")[1].strip(): row for row in text[begin:end]}
    rows[part] = f"| {part} | {commit} | {today} | {counts} | {int(seconds) / 60:.0f} |"
    text[begin:end] = rows.values()
    README.write_text("\n".join(text), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
