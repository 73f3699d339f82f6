"""What the checks share: the files of the tree, and how a check ends."""
import pathlib
import subprocess
import sys

SOURCE = pathlib.Path(sys.argv[1])
BUILD = pathlib.Path(sys.argv[2])
ROOMS = ["base", "bytecode", "vm", "hal", "modules", "compiler-lite", "tools", "tests", "bench", "samples", "python"]
SKIPPED = 77  # ctest's SKIP_RETURN_CODE


def files(*suffixes):
    """Paths, relative to the root, of the files git knows or would add; in a tree without git, all but build trees."""
    try:
        listed = subprocess.run(["git", "-C", SOURCE, "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                                check=True, capture_output=True, text=True).stdout.split("\0")
        paths = [pathlib.Path(name) for name in listed if name]
    except (OSError, subprocess.CalledProcessError):
        paths = [path.relative_to(SOURCE) for path in SOURCE.rglob("*") if path.is_file()]
        paths = [path for path in paths if path.parts[0] not in ("build", ".git")]
    return sorted(path for path in paths
                  if (SOURCE / path).is_file() and (not suffixes or path.suffix in suffixes))


def read(path):
    return (SOURCE / path).read_text(encoding="utf-8")


def text_files():
    """Every file that is text, with its text; fuzz corpora are bytes."""
    for path in files():
        if "corpus" in path.parts:
            continue
        try:
            yield path, read(path)
        except UnicodeDecodeError:
            continue


def finish(problems, checked):
    """Ends the check: what it looked at, or what is wrong."""
    if not checked:
        problems = ["the check found nothing to look at"]
    for problem in problems:
        print(problem)
    print(f"{len(problems)} problems in {checked} looked at")
    sys.exit(1 if problems else 0)


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(SKIPPED)
