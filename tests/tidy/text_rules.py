"""Plain text rules: lines end where their text ends, files end with one newline, TODOs carry an issue number; a header has at
most 450 lines, and in it the sentence on threads begins its line; no golden test expects a measured time in one unit."""
import re

from house import finish, text_files

TODO = re.compile(r"\b(TODO|FIXME|XXX)\b(?!\(#?\d+\))")
THREADS = re.compile(r"\S.*\bThreads:")
COMMENT_START = re.compile(r"^\s*(//+|/?\*+)\s*")
HEADER_LINES_MAX = 450
MEASURED_IN = re.compile(r"\}\} ?[num]?s\b")
problems = []
checked = 0
for path, text in text_files():
    checked += 1
    if text and not text.endswith("\n"):
        problems.append(f"{path}: does not end with a newline")
    if text.endswith("\n\n"):
        problems.append(f"{path}: ends with empty lines")
    if path.suffix in (".h", ".hpp") and text.count("\n") > HEADER_LINES_MAX:
        problems.append(f"{path}: has {text.count(chr(10))} lines; a header of more than {HEADER_LINES_MAX} is several")
    # How long something takes is the machine's matter, and with it the unit; unless the clock is the test's, or
    # the tool writes one unit always (--print_statistics).
    measures = path.parts[:2] == ("tests", "golden") and "baton-benchmark-module" in text and "clock.so" not in text
    for number, line in enumerate(text.splitlines(), 1):
        if measures and MEASURED_IN.search(line) and "--print_statistics" not in line and "STATISTICS" not in line:
            problems.append(f"{path}:{number}: a measured time may have any unit: {{{{[0-9.]+ [num]?s}}}}")
        if line != line.rstrip():
            problems.append(f"{path}:{number}: spaces at the end of the line")
        if path.suffix in (".h", ".hpp") and THREADS.search(COMMENT_START.sub("", line, count=1)):
            problems.append(f"{path}:{number}: 'Threads:' stands on a line of its own, where a reader finds it")
        if TODO.search(line) and path.name != "text_rules.py" and path.suffix != ".md":
            problems.append(f"{path}:{number}: a TODO without an issue number, as in TODO(#12)")
finish(problems, checked)
