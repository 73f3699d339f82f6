"""clang-tidy finds no fault (.clang-tidy) in the sources that the last commits touched: the newest ones, a handful, for it takes seconds
for each. `./dev tidy` looks at everything that has changed since the last commit.
"""
import json
import shutil
import subprocess

from house import BUILD, SOURCE, finish, skip

FILES, COMMITS = 5, 30


def touched():
    """Sources, those of the newest commit first."""
    log = subprocess.run(["git", "-C", SOURCE, "log", f"-{COMMITS}", "--name-only", "--format=", "--diff-filter=d", "--", "*.cpp"],
                         capture_output=True, text=True, check=False)
    if log.returncode:
        skip("there is no history of git here")
    return list(dict.fromkeys(log.stdout.split()))


tool = shutil.which("clang-tidy-19")
if not tool:
    skip("clang-tidy-19 is not installed")
with open(BUILD / "compile_commands.json") as commands:
    built = {entry["file"] for entry in json.load(commands)}
chosen = [path for path in touched() if str(SOURCE / path) in built][:FILES]
run = subprocess.run([tool, "--quiet", "-p", BUILD, *(SOURCE / path for path in chosen)], capture_output=True, text=True, check=False)
problems = [line for line in run.stdout.splitlines() if ": error: " in line or ": warning: " in line]
if run.returncode and not problems:
    problems = run.stderr.splitlines()[-20:]
finish(problems, len(chosen))
