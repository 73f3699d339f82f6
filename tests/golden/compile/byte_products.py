#!/usr/bin/env python3
"""Products of bytes that are summed in i32, of odd and even lengths, of known and open sizes, however the matrices lie.

    byte_products.py make > products.mlir
    byte_products.py check baton-run-module --module=products.bvm --device=...

Bytes are the smallest and the largest ones as often as others.
"""
import itertools
import random
import subprocess
import sys

ROWS, COLUMNS, STEPS = 13, 37, (3, 514)
MAPS = {"ab": ("(m, n, k) -> (m, k)", "(m, n, k) -> (k, n)"), "at": ("(m, n, k) -> (k, m)", "(m, n, k) -> (k, n)"), "bt": ("(m, n, k) -> (m, k)", "(m, n, k) -> (n, k)")}
# A sign for both; and one signed and one not, which is summed as other products are.
EXTENSIONS = {"signed": ("extsi", "extsi"), "unsigned": ("extui", "extui"), "mixed": ("extsi", "extui")}
CASES = list(itertools.product(MAPS, EXTENSIONS, (*STEPS, "open")))


def sizes_of(lies, steps):
    return ((steps, ROWS) if lies == "at" else (ROWS, steps)), ((COLUMNS, steps) if lies == "bt" else (steps, COLUMNS))


def function(lies, signs, steps):
    a, b = (f"tensor<{'x'.join(map(str, size))}xi8>" for size in sizes_of(lies, "?" if steps == "open" else steps))
    c, (first, second) = f"tensor<{ROWS}x{COLUMNS}xi32>", EXTENSIONS[signs]
    maps = ", ".join(f"affine_map<{each}>" for each in (*MAPS[lies], "(m, n, k) -> (m, n)"))
    return f"""func.func @{lies}_{signs}_{steps}(%a: {a}, %b: {b}) -> {c} {{
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : {c}
  %none = linalg.fill ins(%zero : i32) outs(%e : {c}) -> {c}
  %sums = linalg.generic {{indexing_maps = [{maps}], iterator_types = ["parallel", "parallel", "reduction"]}} ins(%a, %b : {a}, {b}) outs(%none : {c}) {{
  ^bb0(%x: i8, %y: i8, %s: i32):
    %v = arith.{first} %x : i8 to i32
    %w = arith.{second} %y : i8 to i32
    %p = arith.muli %v, %w : i32
    %n = arith.addi %s, %p : i32
    linalg.yield %n : i32
  }} -> {c}
  return %sums : {c}
}}
"""


def check(run):
    wrong, chosen = 0, random.Random(5)
    for lies, signs, steps in CASES:
        length = 601 if steps == "open" else steps
        a, b = ([[chosen.choice((-128, -127, 127, -1, chosen.randrange(-128, 128))) for _ in range(columns)] for _ in range(rows)] for rows, columns in sizes_of(lies, length))
        inputs = [f"--input={len(each)}x{len(each[0])}xi8={' '.join(str(v) for row in each for v in row)}" for each in (a, b)]
        done = subprocess.run([*run, f"--function={lies}_{signs}_{steps}", *inputs, "--output_max_element_count=10000"], capture_output=True, text=True, check=False)
        v, w = ([[n % 256 if how == "extui" else n for n in row] for row in each] for each, how in zip((a, b), EXTENSIONS[signs]))
        rows = list(zip(*v)) if lies == "at" else v
        columns = w if lies == "bt" else list(zip(*w))
        wanted = [sum(x * y for x, y in zip(row, column)) for row in rows for column in columns]
        got = [int(each) for each in done.stdout.partition("=")[2].replace("][", " ").strip("[]\n ").split()]
        if got != wanted:
            wrong += 1
            print(f"{lies}_{signs}_{steps}: {got[:6]} and not {wanted[:6]} {done.stderr}")
    print(f"{len(CASES)} products, {wrong} wrong")
    return wrong


if sys.argv[1] == "make":
    print("".join(function(*each) for each in CASES))
else:
    sys.exit(1 if check(sys.argv[2:]) else 0)
