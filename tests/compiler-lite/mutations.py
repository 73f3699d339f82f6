"""Breaks the programs of samples and golden tests, one thing at a time, and compiles what comes out: mutations.py COMPILER SOURCE [COUNT].

Whatever the compiler is given, it ends by itself: with code 0, or with code 1 and a sentence. The same COUNT mutations are made
each time; a failure prints the program.
"""
import pathlib
import random
import re
import subprocess
import sys

compiler, source = sys.argv[1], pathlib.Path(sys.argv[2])
count = int(sys.argv[3]) if len(sys.argv) > 3 else 150
programs = sorted([*source.glob("samples/**/*.mlir"), *source.glob("tests/golden/compile/host/*.mlir"),
                   *source.glob("tests/golden/compile/abi/*.mlir"), *source.glob("tests/golden/compile/tensors/*.mlir")])
TOKEN = re.compile(r"[%@#!^]?[\w.$]+|\S")


def spans(text):
    """Tokens of the program without its comments."""
    code = re.sub(r"//[^\n]*", lambda comment: " " * len(comment.group()), text)
    return [match.span() for match in TOKEN.finditer(code)]


def mutate(text, rng):
    tokens = spans(text)
    begin, end = rng.choice(tokens)
    token = text[begin:end]
    other_begin, other_end = rng.choice(tokens)
    kind = rng.randrange(7)
    if kind == 0:  # Left out.
        return text[:begin] + text[end:]
    if kind == 1:  # Another one of the program.
        return text[:begin] + text[other_begin:other_end] + text[end:]
    if kind == 2:  # Twice.
        return text[:end] + " " + token + text[end:]
    if kind == 3:  # The rest is missing.
        return text[:begin]
    if kind == 4:  # Another number or size.
        numbers = [match.span() for match in re.finditer(r"(?<![\w%@#])\d+", text)]
        if not numbers:
            return text[:begin] + text[end:]
        begin, end = rng.choice(numbers)
        return text[:begin] + rng.choice(["0", "1", "-1", "7", "4294967296", "?"]) + text[end:]
    if kind == 5:  # Another type.
        types = [match.span() for match in re.finditer(r"\b(i1|i8|i32|i64|f16|f32|f64|index)\b", text)]
        if not types:
            return text[:begin] + text[end:]
        begin, end = rng.choice(types)
        return text[:begin] + rng.choice(["i1", "i8", "i32", "i64", "f16", "bf16", "f32", "f64", "index", "i128"]) + text[end:]
    lines = text.splitlines(keepends=True)  # A line is missing.
    del lines[rng.randrange(len(lines))]
    return "".join(lines)


failed = 0
for number in range(count):
    rng = random.Random(number)
    path = programs[number % len(programs)]
    program = mutate(path.read_text(encoding="utf-8"), rng)
    try:
        run = subprocess.run([compiler], input=program.encode(), capture_output=True, timeout=30)
        bad = run.returncode not in (0, 1) or (run.returncode == 1 and b"error" not in run.stderr)
        what = f"exit code {run.returncode}"
    except subprocess.TimeoutExpired:
        bad, what = True, "no end after 30 s"
    if bad:
        failed += 1
        print(f"mutation {number} of {path.relative_to(source)}: {what}\n{program}\n{'' if what.startswith('no') else run.stderr[-2000:].decode(errors='replace')}")
print(f"{failed} of {count} programs ended badly")
sys.exit(failed != 0)
