#!/usr/bin/env python3
"""Runs the commands of READMEs as they stand: check_readme.py BUILD README.md...

What is a command:
  - a line "$ ..." of a fenced block; the lines after it, up to the next command or the end of the block, are what it prints, and
    a line `...` there stands for any lines. A here-document (<<'END') goes up to its end.
  - in a fenced block without "$", each line that begins with a program; it must end with exit code 0. What stands behind
    two spaces and `#` is a comment.
  - in a table, `build/release/...` in backquotes.
Commands run in an empty folder that looks like the root of the tree after `./dev build release`, with its programs in PATH, so
what they write is not left in the tree. A block whose first line is a comment with nothing but a file's name ("// name.cpp", "# name.py") is
written to that file first.

Not run here: verbs of ./dev, which build, test or measure for minutes; for those and for programs of bench/ it is checked that
they exist. A command with --device=cuda or --device=vulkan runs where baton-devices finds such a device, and says that it is
skipped elsewhere, and one of nvrtc.py where there is no NVRTC; so does one that calls the Python of ./dev setup where the build made no package for it, with the rest of its block.
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
FENCE = re.compile(r"^```(\w*\+*)\n(.*?)^```", re.DOTALL | re.MULTILINE)
NAMED = re.compile(r"(?://|#|;) ([\w-]+\.(?:cpp|c|mlir|py|bvmasm|txt))\b[^\n]*\n")
PROGRAM = re.compile(r"(\./dev |baton-[\w-]+( |$)|build/release/|bench/|cmake |c\+\+ )")
NO_PACKAGE = "the build has no package for Python"
LONG = re.compile(r"(\./dev (?P<verb>\w+)|(?P<bench>bench/\S+))")


def commands_of(text):
    """(command, what it prints or None, the number of its block or None)."""
    for i, (language, block) in enumerate(FENCE.findall(text)):
        if re.search(r"^\$ ", block, re.MULTILINE):
            yield from ((*each, i) for each in dollar_commands(block))
        elif not language and block and all(PROGRAM.match(line) for line in block.splitlines() if line.strip()):
            for line in block.splitlines():
                yield re.sub(r"\s\s+#.*", "", line), None, i
    for row in re.findall(r"^\|.*\|$", FENCE.sub("", text), re.MULTILINE):
        for code in re.findall(r"`(build/release/[^`]*)`", row):
            yield code.replace("\\|", "|"), None, None


def dollar_commands(block):
    lines = block.splitlines(keepends=True)
    while lines:
        line = lines.pop(0)
        if not line.startswith("$ "):
            continue
        command = line[2:]
        if end := re.search(r"<<'?(\w+)'?", command):
            while lines and not command.endswith(f"\n{end.group(1)}\n"):
                command += lines.pop(0)
        printed = ""
        while lines and not lines[0].startswith("$ "):
            printed += lines.pop(0)
        yield command, printed


def agrees(printed, expected):
    pattern = "".join("(?:.*\\n)*" if line == "...\n" else re.escape(line) for line in expected.splitlines(keepends=True))
    return re.fullmatch(pattern, printed) is not None


def exists(long):
    if long["verb"]:
        return re.search(rf"^verb_{long['verb']}\(\)", (ROOT / "dev").read_text(encoding="utf-8"), re.MULTILINE) is not None
    return os.access(ROOT / long["bench"], os.X_OK)


def make_tree(folder, build):
    """Looks like the root of the tree; what commands write there is theirs."""
    for entry in ROOT.iterdir():
        if entry.name not in ("build", ".git"):
            (folder / entry.name).symlink_to(entry)
    (folder / "build").mkdir()
    (folder / "build/release").symlink_to(build)
    if (ROOT / "build/python").exists():  # What ./dev setup made.
        (folder / "build/python").symlink_to(ROOT / "build/python")


def has_device(build, name):
    run = subprocess.run([build / "bin/baton-devices", "--json"], stdout=subprocess.PIPE, text=True, timeout=50, check=False)
    return any(driver["driver"] == name and driver["devices"] for driver in json.loads(run.stdout)["drivers"])


def absent(command, build):
    """What the command wants and the machine or the build has not, or None."""
    for name in ("cuda", "vulkan"):
        if f"--device={name}" in command and not has_device(build, name):
            return f"no {name} device"
    if "build/python/bin/python " in command and not ((ROOT / "build/python").exists() and list((build / "python/baton").glob("_baton*.so"))):
        return NO_PACKAGE
    if "nvrtc.py" in command and not has_nvrtc():
        return "no NVRTC"
    return None


def has_nvrtc():
    """In the toolkit or beside the Python of ./dev setup, where Baton looks for it too."""
    places = [pathlib.Path("/usr/local/cuda/lib64"), *(ROOT / "build/python").glob("lib/python*/site-packages/nvidia/*/lib")]
    return any(list(place.glob("libnvrtc.so*")) for place in places)


def check(readme, folder, build):
    """(commands run, problems)."""
    text = readme.read_text(encoding="utf-8")
    for language, block in FENCE.findall(text):
        if named := NAMED.match(block if language else ""):
            (folder / named.group(1)).write_text(block, encoding="utf-8")
    environment = dict(os.environ, PATH=f"{build / 'bin'}:{os.environ['PATH']}")
    count, problems, left_out = 0, [], set()
    for command, expected, block in commands_of(text):
        if block is not None and block in left_out:
            continue
        if long := LONG.match(command):
            problems += [] if exists(long) else [f"$ {command}\ndoes not exist"]
            continue
        if reason := absent(command, build):
            print(f"{readme.relative_to(ROOT)}: skipped, {reason}: {command.strip()}")
            left_out |= {block} if reason == NO_PACKAGE else set()
            continue
        count += 1
        run = subprocess.run(["bash", "-o", "pipefail", "-c", command], cwd=folder, env=environment, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, text=True, timeout=50, check=False)
        if run.returncode != 0 if expected is None else not agrees(run.stdout, expected):
            problems.append(f"$ {command}\nprinted (exit code {run.returncode}):\n{run.stdout}\n"
                            f"{readme.relative_to(ROOT)} says:\n{expected if expected is not None else 'exit code 0'}")
    return count, problems


def main(build, names):
    total, failures = 0, []
    for name in names:
        with tempfile.TemporaryDirectory() as scratch:
            make_tree(pathlib.Path(scratch), build)
            ran, found = check(pathlib.Path(name).resolve(), pathlib.Path(scratch), build)
            total += ran
            failures += found
    print("\n".join(failures))
    print(f"{len(failures)} of {total} commands differ")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]).resolve(), sys.argv[2:]))
