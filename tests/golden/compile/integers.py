#!/usr/bin/env python3
"""Integer operations of kernels at the operands for which MLIR leaves open what comes out, for every width: alone, in the
middle and at the end of a tensor, so that vectors and what is left beside them are seen; with a divisor or an amount that
the compiler knows; and as an index. compiler-lite/codegen/total_integers.hpp says what is wanted.

    integers.py make > integers.mlir
    integers.py check baton-run-module integers.bvm --device=...
"""
import subprocess
import sys

WIDTHS = (8, 16, 32, 64)
OPERATIONS = ("divsi", "divui", "remsi", "remui", "ceildivsi", "ceildivui", "floordivsi", "shli", "shrsi", "shrui")
COUNTS = (1, 3, 19)


def signed(value, width):
    value &= 2**width - 1
    return value - 2**width if value >> (width - 1) else value


def compute(name, a, b, width):
    """Of signed numbers."""
    ua, ub = a & (2**width - 1), b & (2**width - 1)
    if name in ("shli", "shrui", "shrsi"):
        if name == "shrsi":
            return a >> min(ub, width - 1)
        return 0 if ub >= width else signed(ua << ub if name == "shli" else ua >> ub, width)
    if b == 0:
        return a if name.startswith("rem") else -1
    quotient = {"divsi": (abs(a) // abs(b)) * (1 if (a < 0) == (b < 0) else -1), "divui": ua // ub, "remui": ua % ub,
                "remsi": abs(a) % abs(b) * (-1 if a < 0 else 1), "ceildivsi": -(-a // b), "ceildivui": -(-ua // ub),
                "floordivsi": a // b}[name]
    return signed(quotient, width)


def known_operands(name, width):
    return (width, width + 1 if width > 8 else 9, -1) if name.startswith("sh") else (0, -1)


def make():
    for width in WIDTHS:
        type_ = "tensor<?xi%d>" % width
        for name in OPERATIONS:
            print("func.func @%s_%d(%%a: %s, %%b: %s) -> %s {\n  %%0 = arith.%s %%a, %%b : %s\n  return %%0 : %s\n}" % (
                name, width, type_, type_, type_, name, type_, type_))
    # Known ones, in one function for each width, and numbers that are said not to wrap round.
    for width in (8, 32):
        type_, lines, results = "tensor<?xi%d>" % width, [], []
        for name in OPERATIONS:
            for known in known_operands(name, width):
                results.append("%%r%d" % len(results))
                lines.append("""  %s = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
      iterator_types = ["parallel"]} ins(%%a : %s) outs(%%e : %s) {
  ^bb0(%%x: i%d, %%old: i%d):
    %%k = arith.constant %d : i%d
    %%y = arith.%s %%x, %%k : i%d
    linalg.yield %%y : i%d
  } -> %s""" % (results[-1], type_, type_, width, width, known, width, name, width, width, type_))
        types = ", ".join([type_] * len(results))
        print("func.func @known_%d(%%a: %s) -> (%s) {\n  %%c0 = arith.constant 0 : index\n  %%n = tensor.dim %%a, %%c0 : %s\n"
              "  %%e = tensor.empty(%%n) : %s\n%s\n  return %s : %s\n}" % (
                  width, type_, types, type_, type_, "\n".join(lines), ", ".join(results), types))
    print("""func.func @promised(%a: tensor<?xi32>, %table: tensor<?xi32>) -> tensor<?xi32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %a, %c0 : tensor<?xi32>
  %e = tensor.empty(%n) : tensor<?xi32>
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%a : tensor<?xi32>) outs(%e : tensor<?xi32>) {
  ^bb0(%x: i32, %old: i32):
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %low = arith.maxsi %x, %zero : i32
    %next = arith.addi %low, %one overflow<nsw, nuw> : i32
    %k = arith.index_cast %next : i32 to index
    %y = tensor.extract %table[%k] : tensor<?xi32>
    linalg.yield %y : i32
  } -> tensor<?xi32>
  return %0 : tensor<?xi32>
}""")


def operands(width, count):
    least, most = -2**(width - 1), 2**(width - 1) - 1
    a = [least, most, 7, -7, 0, 1, -1]
    b = [-1, 0, 1, width, width + 1, -width, 2, least, most, 2 * width % 128, 3]
    return [a[i % len(a)] for i in range(count)], [b[(3 * i) % len(b)] for i in range(count)]


def text_of(values, width):
    return "%dxi%d=%s" % (len(values), width, " ".join(map(str, values)))


def check(command):
    wrong = calls = 0

    def call(name, inputs, expected):
        nonlocal wrong, calls
        calls += 1
        done = subprocess.run(command[:1] + command[2:] + ["--module=" + command[1], "--function=" + name] +
                              ["--input=" + each for each in inputs],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60)
        lines = [line for line in done.stdout.splitlines() if "xi" in line]
        if done.returncode != 0 or lines != expected:
            wrong += 1
            print("%s(%s) should be %s: rc %d, %s" % (name, inputs, expected, done.returncode, done.stdout))

    for width in WIDTHS:
        for name in OPERATIONS:
            for count in COUNTS:
                a, b = operands(width, count)
                result = [compute(name, x, y, width) for x, y in zip(a, b)]
                call("%s_%d" % (name, width), [text_of(a, width), text_of(b, width)], [text_of(result, width)])
    for width in (8, 32):
        a, _ = operands(width, 19)
        call("known_%d" % width, [text_of(a, width)],
             [text_of([compute(name, x, known, width) for x in a], width)
              for name in OPERATIONS for known in known_operands(name, width)])
    # The nearest element of what wraps round is the first.
    call("promised", [text_of([0, 2**31 - 1, 1] * 7, 32), text_of([5, 6, 7], 32)], [text_of([6, 5, 7] * 7, 32)])
    print("%d calls, %d wrong" % (calls, wrong))
    return wrong > 0


if __name__ == "__main__":
    sys.exit(make() if sys.argv[1] == "make" else check(sys.argv[2:]))
