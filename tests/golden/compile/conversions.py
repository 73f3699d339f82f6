#!/usr/bin/env python3
"""Floats to integers in kernels, for every pair of types: what is beyond the integers is the nearest one, what is no number is 0,
and fractions are cut off; alone, in the middle and at the end of a tensor, so that vectors and what is left beside them are seen.

    conversions.py make > conversions.mlir
    conversions.py check baton-run-module conversions.bvm --device=...
"""
import math
import struct
import subprocess
import sys

FLOATS = {"f16": 11, "bf16": 8, "f32": 24, "f64": 53}
WIDTHS = (8, 16, 32, 64)
COUNTS = (1, 3, 37)


def make():
    for name in FLOATS:
        given, lines, results, types = "tensor<?x%s>" % name, [], [], []
        for width in WIDTHS:
            for operation in ("fptosi", "fptoui"):
                results.append("%%r%d" % len(results))
                types.append("tensor<?xi%d>" % width)
                lines.append("  %s = arith.%s %%a : %s to %s" % (results[-1], operation, given, types[-1]))
        print("func.func @from_%s(%%a: %s) -> (%s) {\n%s\n  return %s : %s\n}" % (
            name, given, ", ".join(types), "\n".join(lines), ", ".join(results), ", ".join(types)))


def rounded(value, name):
    """The nearest float of the type: what the tool makes of a number that is written down."""
    if value != value or math.isinf(value):
        return value
    if name == "f64":
        return value
    if name == "f16":
        try:
            return struct.unpack("e", struct.pack("e", value))[0]
        except OverflowError:
            return math.copysign(math.inf, value)
    bits = struct.unpack("I", struct.pack("f", value))[0]
    if name == "bf16":
        bits = (bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000
    return struct.unpack("f", struct.pack("I", bits))[0]


def numbers(name):
    """Around the ends of every integer type, one step of the float to both sides."""
    found = [0.0, -0.0, 0.99, -0.99, 1.5, -1.5, 3.99, -3.99, 100.5, math.nan, math.inf, -math.inf]
    for exponent in (7, 8, 15, 16, 31, 32, 63, 64):
        for sign in (1, -1):
            end = sign * 2.0**exponent
            steps = (0.0, 2.0**(exponent - FLOATS[name]), -2.0**(exponent - FLOATS[name]), 0.5, -0.5, 1.0, -1.0)
            found += [rounded(end + step, name) for step in steps]
    return [each for i, each in enumerate(found) if name != "f16" or abs(each) <= 65504 or not math.isfinite(each)]


def wanted(value, operation, width):
    least, most = (-2**(width - 1), 2**(width - 1) - 1) if operation == "fptosi" else (0, 2**width - 1)
    if value != value:
        return 0
    number = (most if value > 0 else least) if math.isinf(value) else min(max(int(value), least), most)
    return number - 2**width if number >= 2**(width - 1) else number


def check(command):
    wrong = calls = 0
    for name in FLOATS:
        for count in COUNTS:
            every = numbers(name)
            values = every if count == COUNTS[-1] else every[9:9 + count]
            values = values + every[: (-len(values)) % count]
            text = "%dx%s=%s" % (len(values), name, " ".join(repr(each) for each in values))
            expected = ["%dxi%d=%s" % (len(values), width, " ".join(str(wanted(each, operation, width)) for each in values))
                        for width in WIDTHS for operation in ("fptosi", "fptoui")]
            done = subprocess.run(command[:1] + command[2:] + ["--module=" + command[1], "--function=from_" + name, "--input=" + text],
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60)
            given = [line for line in done.stdout.splitlines() if "xi" in line]
            calls += 1
            if done.returncode != 0 or given != expected:
                wrong += 1
                print("from %s: rc %d, %s" % (name, done.returncode, done.stdout[:100]))
                for ours, theirs in zip(given, expected):
                    pairs = zip(values, ours.split("=")[1].split(), theirs.split("=")[1].split())
                    off = ["%r is %s, not %s" % each for each in pairs if each[1] != each[2]]
                    print("  %s: %s" % (theirs.split("=")[0], "; ".join(off[:3])))
    print("%d calls, %d wrong" % (calls, wrong))
    return wrong > 0


if __name__ == "__main__":
    sys.exit(make() if sys.argv[1] == "make" else check(sys.argv[2:]))
