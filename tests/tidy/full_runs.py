"""Every part of `./dev test --full` was run, without a failure, on a commit that is not older than 200 commits. A part that is new
stands with the commit before it: it has as long."""
import re
import subprocess

from house import SOURCE, finish, read, skip

AGE_MAX = 200


def git(*arguments):
    done = subprocess.run(["git", "-C", SOURCE, *arguments], capture_output=True, text=True)
    return done.stdout.strip() if done.returncode == 0 else None


def age_of(commit):
    """Commits since `commit`. A commit that a rebase gave another name counts from the one that wrote its name down."""
    if git("merge-base", "--is-ancestor", commit, "HEAD") is None:
        commit = git("log", "-1", "--format=%H", f"-S{commit}", "--", "tests/README.md")
    counted = git("rev-list", "--count", f"{commit}..HEAD") if commit else "0"  # Not committed yet.
    return int(counted)


try:
    if git("rev-parse", "--is-shallow-repository") != "false":
        skip("no git repository with its history is here, so nobody knows how old the last full run is")
except OSError:
    skip("git is not here, so nobody knows how old the last full run is")

parts = re.search(r"^full_parts=\((.*)\)$", read("dev"), re.MULTILINE)[1].split()
rows = dict(re.findall(r"^\| ([\w-]+) \| ([0-9a-f]{7,40})(?= and changes | \|)", read("tests/README.md"), re.MULTILINE))
problems = [f"tests/README.md: no full run of '{part}' is written down" for part in parts if part not in rows]
for part, commit in rows.items():
    age = age_of(commit)
    if age > AGE_MAX:
        problems.append(f"tests/README.md: the last full run of '{part}' is {age} commits old: ./dev test --full {part} --record")
problems += re.findall(r"^\| [\w-]+ \| [0-9a-f]{7,40}.*[1-9]\d* failed.*$", read("tests/README.md"), re.MULTILINE)
finish(problems, len(parts))
