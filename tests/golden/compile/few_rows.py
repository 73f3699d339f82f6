#!/usr/bin/env python3
"""Products of few rows in each form: how many rows, how long, how wide, of which elements, and how the matrix lies in memory.

    few_rows.py make [--all] > few_rows.mlir
    few_rows.py check [--all] baton-run-module --module=few_rows.bvm --device=...

Without --all it is every eleventh of them.

Elements are small whole numbers, so that sums are exact in any order. A row of a batch has the bits that it has alone, which is
looked at with numbers that are rounded.
"""
import itertools
import subprocess
import sys

MAPS = {"along columns": "(d0, d1, d2) -> (d2, d1)", "along steps": "(d0, d1, d2) -> (d1, d2)"}
ROWS = (0, 1, 2, 3, 5, 8, 9)  # 0: a vector, no matrix of one row.
SIZES = ((16, 256), (65, 67), (257, 33), (128, 80))  # Steps and columns.
KINDS = (("f32", "f32", "f32"), ("bf16", "bf16", "f32"), ("f32", "bf16", "f32"), ("f16", "f16", "f32"), ("bf16", "bf16", "bf16"), ("f32", "i8", "f32"),
         ("f64", "f32", "f64"), ("i8", "i8", "i32"), ("i32", "i16", "i32"), ("f16", "f16", "f16"))


EVERY = 1 if "--all" in sys.argv else 11


def cases():
    known = [(rows, *size, kinds, lies) for rows, size, kinds, lies in itertools.product(ROWS, SIZES, KINDS, MAPS)]
    known += [(rows, "?", "?", kinds, lies) for rows in ROWS for kinds in KINDS for lies in MAPS]
    needed = [(rows, 65, 67, KINDS[0], lies) for rows in (1, 8) for lies in MAPS]
    return [*needed, *(each for each in known[::EVERY] if each not in needed)]


def name_of(rows, steps, columns, kinds, lies):
    return f"{lies.replace(' ', '_')}_{rows}_{steps}_{columns}_{'_'.join(kinds)}".replace("?", "open")


def tensor(*sizes, kind):
    return f"tensor<{'x'.join(map(str, sizes))}x{kind}>"


def widened(name, kind, to):
    if kind == to:
        return name, ""
    cast = "sitofp" if kind[0] == "i" and to[0] != "i" else "extsi" if kind[0] == "i" else "extf"
    return f"{name}w", f"    {name}w = arith.{cast} {name} : {kind} to {to}\n"


def function(rows, steps, columns, kinds, lies):
    a, b, c = kinds
    x = tensor(*([rows] if rows else []), steps, kind=a)
    w = tensor(*((steps, columns) if lies == "along columns" else (columns, steps)), kind=b)
    y = tensor(*([rows] if rows else []), columns, kind=c)
    maps = ["(d0, d1, d2) -> (d0, d2)", MAPS[lies], "(d0, d1, d2) -> (d0, d1)"]
    loops = '"parallel", "parallel", "reduction"'
    if not rows:
        maps = [each.replace("(d0, d1, d2) -> ", "(d1, d2) -> ").replace("(d0, ", "(") for each in maps]
        loops = '"parallel", "reduction"'
    left, first = widened("%a", a, c)
    right, second = widened("%b", b, c)
    letter, size, place = ("i" if c[0] == "i" else "f"), "", int(lies == "along columns")
    if columns == "?":
        size = f"  %place = arith.constant {place} : index\n  %width = tensor.dim %w, %place : {w}\n"
    return f"""func.func @{name_of(rows, steps, columns, kinds, lies)}(%x: {x}, %w: {w}) -> {y} {{
  %zero = arith.constant {"0" if letter == "i" else "0.0"} : {c}
{size}  %empty = tensor.empty({"%width" if size else ""}) : {y}
  %zeros = linalg.fill ins(%zero : {c}) outs(%empty : {y}) -> {y}
  %made = linalg.generic {{indexing_maps = [{", ".join(f"affine_map<{each}>" for each in maps)}], iterator_types = [{loops}]}} ins(%x, %w : {x}, {w}) outs(%zeros : {y}) {{
  ^bb0(%a: {a}, %b: {b}, %c: {c}):
{first}{second}    %p = arith.mul{letter} {left}, {right} : {c}
    %s = arith.add{letter} %c, %p : {c}
    linalg.yield %s : {c}
  }} -> {y}
  return %made : {y}
}}
"""


def text(sizes, kind, numbers):
    return f"{'x'.join(map(str, [*sizes, kind]))}={' '.join(map(str, numbers))}"


def values(count, turn):
    """Of -1, 0 and 1: sums stay exact in f16 and bf16, too."""
    return [(i * turn + i // 7) % 3 - 1 for i in range(count)]


def check(run):
    wrong = count = 0
    for rows, steps, columns, kinds, lies in cases():
        name = name_of(rows, steps, columns, kinds, lies)
        steps, columns = (61, 77) if steps == "?" else (steps, columns)
        x, w = values((rows or 1) * steps, 5), values(steps * columns, 11)
        at = (lambda k, n: w[k * columns + n]) if lies == "along columns" else (lambda k, n: w[n * steps + k])
        columns_of_w = [[at(k, n) for k in range(steps)] for n in range(columns)]
        wanted = [sum(p * q for p, q in zip(x[r * steps:(r + 1) * steps], column)) for r in range(rows or 1) for column in columns_of_w]
        shape = (steps, columns) if lies == "along columns" else (columns, steps)
        got = call(run, name, text([rows] * bool(rows) + [steps], kinds[0], x), text(shape, kinds[1], w))
        count += 1
        if got != wanted:
            wrong += 1
            print(f"{name}: {got[:8]} and not {wanted[:8]}")
    print(f"{count} products, {wrong} wrong")
    return wrong + alone_and_together(run)


def call(run, name, *inputs):
    done = subprocess.run([*run, f"--function={name}", "--output_max_element_count=10000", *(f"--input={each}" for each in inputs)], capture_output=True, text=True, check=False)
    if done.returncode:
        print(f"{name} ended with {done.returncode}: {done.stderr}")
        return []
    return [float(each) for each in done.stdout.split("=", 1)[1].replace("][", " ").strip("[]\n ").split()]


def alone_and_together(run):
    """The first row of eight is the row of one, bit by bit as far as it is printed."""
    wrong = 0
    for lies in MAPS:
        x, w = [(i % 13) / 7 - 0.9 for i in range(8 * 65)], [(i % 17) / 3 - 2.7 for i in range(65 * 67)]
        shape = (65, 67) if lies == "along columns" else (67, 65)
        together, alone = (call(run, name_of(rows, 65, 67, KINDS[0], lies), text([rows, 65], "f32", x[:rows * 65]), text(shape, "f32", w)) for rows in (8, 1))
        wrong += together[:67] != alone or not alone
    print(f"alone and together: {wrong} wrong")
    return wrong


if sys.argv[1] == "make":
    print("".join(function(*each) for each in cases()))
else:
    sys.exit(1 if check([each for each in sys.argv[2:] if each != "--all"]) else 0)
