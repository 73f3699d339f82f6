"""Plain text rules: lines end where their text ends, files end with one newline, TODOs carry an issue number, and in a header
the sentence on threads begins its line."""
import re

from house import finish, text_files

TODO = re.compile(r"\b(TODO|FIXME|XXX)\b(?!\(#?\d+\))")
THREADS = re.compile(r"\S.*\bThreads:")
COMMENT_START = re.compile(r"^\s*(//+|/?\*+)\s*")
problems = []
checked = 0
for path, text in text_files():
    checked += 1
    if text and not text.endswith("\n"):
        problems.append(f"{path}: does not end with a newline")
    if text.endswith("\n\n"):
        problems.append(f"{path}: ends with empty lines")
    for number, line in enumerate(text.splitlines(), 1):
        if line != line.rstrip():
            problems.append(f"{path}:{number}: spaces at the end of the line")
        if path.suffix in (".h", ".hpp") and THREADS.search(COMMENT_START.sub("", line, count=1)):
            problems.append(f"{path}:{number}: 'Threads:' stands on a line of its own, where a reader finds it")
        if TODO.search(line) and path.name != "text_rules.py" and path.suffix != ".md":
            problems.append(f"{path}:{number}: a TODO without an issue number, as in TODO(#12)")
finish(problems, checked)
