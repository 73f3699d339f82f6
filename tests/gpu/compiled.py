#!/usr/bin/env python3
"""Runs compiled programs on a GPU and on the CPU, and compares what comes out.

    tests/gpu/compiled.py baton-run-module folder [--device=cuda ...] [--only=text] [--plugin=cublas.so] [--under="compute-sanitizer ..."]

The folder holds programs (x.mlir with its x.bvm, compiled for local and cuda; x.cuda.bvm beside it runs on the GPU, where a program
for both has other kernels; with Vulkan likewise). Lines of the program say what to run:

    // CASE: function --input=100x3=f32 --input=5=f32:positive --input=i32=3

Tensors are filled with numbers that are the same each time; `:positive`, `:unit` (between -1 and 1) and `:big` (from 1)
say which. What golden tests run on local-sync (RUN: baton-run-module %t.bvm ...) counts as cases, too. Each case is run on
local-sync and on every device; each number must be near the other one.
"""
import concurrent.futures
import math
import os
import random
import re
import struct
import subprocess
import sys
import tempfile

BYTES = {"f32": 4, "f64": 8, "f16": 2, "bf16": 2, "i8": 1, "i16": 2, "i32": 4, "i64": 8, "i1": 1}
UNDEFINED = {"anything"}  # Golden functions whose result may be what it likes.
# What sums in another order, and functions good to a unit in the last place, may change: of the number, and of the
# largest number of its tensor.
TOLERANCE = {"f32": (2e-5, 2e-6), "f64": (1e-12, 1e-14), "f16": (4e-3, 1e-3), "bf16": (2e-2, 1e-2)}


def numbers(kind, count, which, seed):
    source = random.Random(seed)
    if kind.startswith("i"):
        high = {"i1": 1, "i8": 100}.get(kind, 1000)
        return [source.randint(0 if kind == "i1" else -high, high) for _ in range(count)]
    low, high = {"": (-8, 8), "positive": (0.01, 8), "unit": (-0.99, 0.99), "big": (1, 9)}[which]
    return [source.uniform(low, high) for _ in range(count)]


def pack(kind, values):
    if kind == "bf16":
        return b"".join(struct.pack("<f", value)[2:] for value in values)
    letter = {"f32": "f", "f64": "d", "f16": "e", "i1": "b", "i8": "b", "i16": "h", "i32": "i", "i64": "q"}[kind]
    return struct.pack("<%d%s" % (len(values), letter), *values)


def arguments_of(case, folder):
    arguments = ["--function=" + case[0]]
    for i, word in enumerate(case[1:]):
        tensor = re.fullmatch(r"--input=([0-9x]+)=(\w+)(?::(\w+))?", word)
        if not tensor:
            arguments.append(word)
            continue
        shape, kind, which = tensor[1], tensor[2], tensor[3] or ""
        count = math.prod(int(size) for size in shape.split("x"))
        path = os.path.join(folder, "%d.bin" % i)
        with open(path, "wb") as file:
            file.write(pack(kind, numbers(kind, count, which, i)))
        arguments.append("--input=%sx%s=@%s" % (shape, kind, path))
    return arguments


def cases_of(text):
    cases = [line.split()[2:] for line in text.splitlines() if line.startswith("// CASE:")]
    for words in re.findall(r"^// RUN: baton-run-module %t\.bvm --device=local-sync --function=(.*?)(?:\||$)", text, re.M):
        cases.append(words.split())
    return [case for case in cases if case[0] not in UNDEFINED]


def run(command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    if done.returncode:
        return None, (done.stderr + done.stdout).strip()[:600]
    results = []
    for line in done.stdout.splitlines():
        value = re.match(r"((?:\d+x)*)([a-z]+\d+)=(.*)", line)
        if value:
            results.append((value[1], value[2], [float(each) for each in re.split(r"[\[\]\s]+", value[3]) if each]))
    return results, ""


def difference(kind, wanted, given):
    """The place where two results differ most beyond what they may, or None."""
    if len(wanted) != len(given):
        return "%d numbers, wanted are %d" % (len(given), len(wanted))
    relative, absolute = TOLERANCE.get(kind, (0, 0))
    scale = max((abs(x) for x in wanted if math.isfinite(x)), default=0)
    worst, text = 0, None
    for i, (a, b) in enumerate(zip(wanted, given)):
        if a == b or (math.isnan(a) and math.isnan(b)):
            continue
        off = abs(a - b) - relative * abs(a) - absolute * scale
        if not off <= worst:
            worst, text = off, "[%d] is %.9g, wanted is %.9g" % (i, b, a)
    return text


def check_case(tool, plugins, devices, under, program, title, case):
    """Messages about what is wrong, one for each device at most."""
    messages = []
    with tempfile.TemporaryDirectory() as scratch:
        base = [tool, *plugins, "--output_max_element_count=1000000"] + arguments_of(case, scratch)
        wanted, problem = run(base + ["--module=" + program, "--device=local-sync"])
        for device in devices:
            given = None
            alone = program[:-4] + "." + re.match(r"\w+", device)[0] + ".bvm"
            on_device = alone if os.path.exists(alone) else program
            if not problem:
                given, problem = run(under + base + ["--module=" + on_device, "--device=" + device])
            if not problem and [x[:2] for x in wanted] != [x[:2] for x in given]:
                problem = "results are %s, wanted are %s" % ([x[:2] for x in given], [x[:2] for x in wanted])
            if not problem:
                texts = [difference(a[1], a[2], b[2]) for a, b in zip(wanted, given)]
                problem = "; ".join("result %d %s" % (i, text) for i, text in enumerate(texts) if text)
            if problem:
                messages.append("FAILED %s on %s: %s" % (title, device, problem))
            problem = ""
    return messages


def main():
    tool, folder = sys.argv[1:3]
    devices = [word[9:] for word in sys.argv[3:] if word.startswith("--device=")]
    under = "".join(word[8:] for word in sys.argv[3:] if word.startswith("--under=")).split()
    plugins = ["--module=" + word[9:] for word in sys.argv[3:] if word.startswith("--plugin=")]
    only = "".join(word[7:] for word in sys.argv[3:] if word.startswith("--only="))
    work = []
    for name in sorted(os.listdir(folder)):
        if not name.endswith(".mlir"):
            continue
        with open(os.path.join(folder, name)) as file:
            cases = cases_of(file.read())
        for case in cases:
            title = name[:-5] + "." + " ".join(case)
            if only in title:
                work.append((os.path.join(folder, name[:-5] + ".bvm"), title, case))
    # Most of a case is the driver's compiler, which each process starts anew.
    with concurrent.futures.ThreadPoolExecutor(min(8, os.cpu_count() or 1)) as threads:
        messages = list(threads.map(lambda each: check_case(tool, plugins, devices, under, *each), work))
    failed = sum(len(each) for each in messages)
    for each in messages:
        for message in each:
            print(message)
    print("%d cases passed, %d failed" % (len(work) * len(devices) - failed, failed))
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
