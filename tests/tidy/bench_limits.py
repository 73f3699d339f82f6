"""Each row of a bench's table has a limit, is what another row is held to, or says in a sentence why it has none."""
import runpy
import sys

from house import SOURCE, files, finish, read

sys.path.insert(0, str(SOURCE / "bench/support"))
import google  # noqa: E402

problems, checked = [], 0
for path in files(".py"):
    if path.parts[0] != "bench" or path.name != "run.py" or "from google import Row" not in read(path):
        continue
    rows = runpy.run_path(str(SOURCE / path))["ROWS"]
    checked += len(rows)
    problems += [f"{path}: {problem}" for problem in google.problems_of(rows)]
finish(problems, checked)
