"""clang-tidy finds no fault (.clang-tidy) in the sources that a change touches: what differs from the last commit, then what the newest
commits touched, of headers the source beside it, or else one that includes it. As many as fit into a time, which is printed, for it
takes seconds for each. `./dev tidy` looks at everything that has changed since the last commit.
"""
import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import subprocess
import time

from house import BUILD, SOURCE, finish, read, skip

SECONDS, COMMITS = 75, 30  # ctest ends the check after 120 (CMakeLists.txt).
SUFFIXES = ("*.cpp", "*.hpp", "*.h", "*.inc")


def git(*arguments):
    run = subprocess.run(["git", "-C", SOURCE, *arguments, "--", *SUFFIXES], capture_output=True, text=True, check=False)
    if run.returncode:
        skip("there is no history of git here")
    return run.stdout.split()


def touched():
    """What is not committed, then what the newest commit touched, and so on."""
    return list(dict.fromkeys(git("diff", "--name-only", "--diff-filter=d", "HEAD") +
                              git("log", f"-{COMMITS}", "--name-only", "--format=", "--diff-filter=d")))


def sources_of(path, built):
    """The file itself, or for one that is included the source beside it, or the first one that includes it."""
    if path in built:
        return path
    beside = str(pathlib.Path(path).with_suffix(".cpp"))
    if path.endswith(".cpp") or not (SOURCE / path).is_file():
        return None
    if beside in built:
        return beside
    return includers(built).get(path)


def includers(built, known={}):  # noqa: B006 (made once)
    if not known:
        known[""] = None
        for source in sorted(built):
            for included in re.findall(r'^#include "([^"]+)"', read(source), re.MULTILINE):
                known.setdefault(included, source)
    return known


def look_at(path):
    run = subprocess.run([tool, "--quiet", "-p", BUILD, SOURCE / path], capture_output=True, text=True, check=False)
    problems = [line for line in run.stdout.splitlines() if ": error: " in line or ": warning: " in line]
    return run.stderr.splitlines()[-20:] if run.returncode and not problems else problems


tool = shutil.which("clang-tidy-19")
if not tool:
    skip("clang-tidy-19 is not installed")
with open(BUILD / "compile_commands.json") as commands:
    here = f"{SOURCE}/"
    built = {entry["file"][len(here):] for entry in json.load(commands)
             if entry["file"].startswith(here) and not entry["file"].startswith(str(BUILD)) and os.path.exists(entry["file"])}
wanted = list(dict.fromkeys(source for path in touched() if (source := sources_of(path, built))))
begin, longest, looked_at, problems = time.monotonic(), 0.0, 0, []
with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
    waiting = list(wanted)
    running = {}
    while waiting or running:
        # Begins nothing that might not end in time.
        while waiting and len(running) < os.cpu_count() and time.monotonic() - begin + longest < SECONDS:
            running[pool.submit(look_at, waiting.pop(0))] = time.monotonic()
        if not running:
            break
        for done in concurrent.futures.wait(running, return_when=concurrent.futures.FIRST_COMPLETED).done:
            longest = max(longest, time.monotonic() - running.pop(done))
            problems += done.result()
            looked_at += 1
print(f"looked at {looked_at} of {len(wanted)} sources of what is not committed and of the last {COMMITS} commits, newest first, in "
      f"{time.monotonic() - begin:.0f} s of at most {SECONDS}")
finish(list(dict.fromkeys(problems)), looked_at)
