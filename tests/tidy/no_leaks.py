"""Nothing in the tree names the machine it was written on: no home, no work folder, no private host."""
import re

from house import finish, text_files

LEAKS = [
    (re.compile(r"(?<![\w$}.%/])/(?:home|root|Users|work|mnt|private)/\w"), "a path of one machine"),
    (re.compile(r"(?<![\w$}.%/])/tmp/\w"), "a fixed temporary path"),
    (re.compile(r"https?://(?!(?:www\.apache\.org|github\.com|llvm\.org|luajit\.org|google\.github\.io|ui\.perfetto\.dev)\b)[\w.-]+"),
     "an address that is not of a project we cite"),
    (re.compile(r"\b(?:\d{1,3}\.){3}\d{1,3}:\d+\b"), "a network address"),
]
problems = []
checked = 0
for path, text in text_files():
    checked += 1
    for number, line in enumerate(text.splitlines(), 1):
        problems += [f"{path}:{number}: {what}: {line.strip()[:80]}" for leak, what in LEAKS
                     if path.name != "no_leaks.py" and leak.search(line)]
finish(problems, checked)
