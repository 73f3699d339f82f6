"""text → bytes → text → bytes, for every .bvmasm of the tree that assembles: the bytes must be the same both times."""
import pathlib
import subprocess
import sys

root, assembler, dumper, scratch = sys.argv[1:]


def assemble(text, *flags):
    return subprocess.run([assembler, "-", *flags], input=text, capture_output=True)


def comes_back(text, *flags):
    """None when the text is not a program; else whether its bytes survive the way through text."""
    first = assemble(text, *flags)
    if first.returncode:
        return None
    dumped = subprocess.run([dumper, "-"], input=first.stdout, capture_output=True)
    return dumped.returncode == 0 and assemble(dumped.stdout).stdout == first.stdout


same, different = 0, []
for path in sorted(pathlib.Path(root).rglob("*.bvmasm")):
    if {"build", "verifier"} & set(path.relative_to(root).parts):  # The gate refuses what is in golden/verifier.
        continue
    for flags in ((), ("--strip-debug",), ("-g",)):
        answer = comes_back(path.read_bytes(), *flags)
        same += answer is True
        different += [f"{path} {' '.join(flags)}"] if answer is False else []
print("\n".join(different))
print(f"{same} programs came back the same, {len(different)} did not")
sys.exit(1 if different else 0)
