#!/usr/bin/env python3
"""Programs of many steps of one kind: they compute what NumPy does, and the compiler's time grows with their size and not with its square.

    deep_programs.py [family...]
"""
import resource
import sys
import tempfile
from pathlib import Path

import numpy as np

import tools

ROW, SQUARE = "tensor<8xf32>", "tensor<8x8xf32>"
CALCULATED = 40  # Steps of a program that is run.
SMALL, LARGE = 200, 800  # Steps of programs that are timed.
# Four times the steps take four times as long; a square would be sixteen.
GROWTH_MAX = 8


def chain(arguments, step, n, head="", kind=ROW):
    """The text of a function whose step i makes %v{i + 1} of %v{i}."""
    body = "".join(step(i) for i in range(n))
    return f"func.func @main({arguments}) -> {kind} {{\n{head}{body}  return %v{n} : {kind}\n}}\n"


def pointwise(n):
    text = chain(f"%v0: {ROW}, %y: {ROW}", lambda i: f"  %t{i} = arith.addf %v{i}, %y : {ROW}\n  %v{i + 1} = math.tanh %t{i} : {ROW}\n", n)

    def run(x, y):
        for _ in range(n):
            x = np.tanh(x + y)
        return x

    return text, run, 2


def constants(n):
    def step(i):
        values = ", ".join(f"{i % 7 + j}.5" for j in range(8))
        return f"  %k{i} = arith.constant dense<[{values}]> : {ROW}\n  %t{i} = arith.divf %v{i}, %k{i} : {ROW}\n  %v{i + 1} = arith.addf %t{i}, %k{i} : {ROW}\n"

    def run(x):
        for i in range(n):
            k = np.arange(8, dtype=np.float32) + np.float32(i % 7 + 0.5)
            x = x / k + k
        return x

    return chain(f"%v0: {ROW}", step, n), run, 1


def layers(n):
    head = (f"  %zero = arith.constant 0.0 : f32\n  %empty = tensor.empty() : {SQUARE}\n"
            f"  %zeros = linalg.fill ins(%zero : f32) outs(%empty : {SQUARE}) -> {SQUARE}\n")

    def step(i):
        return (f"  %m{i} = linalg.matmul ins(%v{i}, %w : {SQUARE}, {SQUARE}) outs(%zeros : {SQUARE}) -> {SQUARE}\n"
                f"  %v{i + 1} = math.tanh %m{i} : {SQUARE}\n")

    def run(x, w):
        for _ in range(n):
            x = np.tanh(x @ w)
        return x

    return chain(f"%v0: {SQUARE}, %w: {SQUARE}", step, n, head, SQUARE), run, 2


def branches(n):
    def step(i):
        return (f"  %k{i} = arith.constant {i} : i32\n  %c{i} = arith.cmpi sgt, %n, %k{i} : i32\n  %v{i + 1} = scf.if %c{i} -> ({ROW}) {{\n"
                f"    %t{i} = math.tanh %v{i} : {ROW}\n    scf.yield %t{i} : {ROW}\n  }} else {{\n    scf.yield %v{i} : {ROW}\n  }}\n")

    def run(x):
        for _ in range(n // 2):
            x = np.tanh(x)
        return x

    head = f"  %half = arith.constant {n // 2} : i32\n  %n = util.optimization_barrier %half : i32\n"
    return chain(f"%v0: {ROW}", step, n, head), run, 1


def loops(n):
    head = "  %c0 = arith.constant 0 : index\n  %c1 = arith.constant 1 : index\n  %c2 = arith.constant 2 : index\n"

    def step(i):
        return (f"  %v{i + 1} = scf.for %i{i} = %c0 to %c2 step %c1 iter_args(%a{i} = %v{i}) -> ({ROW}) {{\n    %t{i} = math.tanh %a{i} : {ROW}\n"
                f"    scf.yield %t{i} : {ROW}\n  }}\n")

    def run(x):
        for _ in range(2 * n):
            x = np.tanh(x)
        return x

    return chain(f"%v0: {ROW}", step, n, head), run, 1


def slices(n):
    kind = f"tensor<{n}x8xf32>"

    def step(i):
        return (f"  %s{i} = tensor.extract_slice %v{i}[{i}, 0] [1, 8] [1, 1] : {kind} to tensor<1x8xf32>\n  %t{i} = math.tanh %s{i} : tensor<1x8xf32>\n"
                f"  %v{i + 1} = tensor.insert_slice %t{i} into %v{i}[{i}, 0] [1, 8] [1, 1] : tensor<1x8xf32> into {kind}\n")

    return chain(f"%v0: {kind}", step, n, kind=kind), np.tanh, (n, 8)


def sizes(n):
    kind = "tensor<?xf32>"
    head = f"  %c0 = arith.constant 0 : index\n  %size = tensor.dim %x, %c0 : {ROW}\n  %v0 = tensor.cast %x : {ROW} to {kind}\n"

    def step(i):
        return (f"  %t{i} = math.tanh %v{i} : {kind}\n  %c{i}_ = tensor.concat dim(0) %t{i}, %v{i} : ({kind}, {kind}) -> {kind}\n"
                f"  %d{i} = tensor.dim %v{i}, %c0 : {kind}\n  %v{i + 1} = tensor.extract_slice %c{i}_[1] [%d{i}] [1] : {kind} to {kind}\n")

    def run(x):
        for _ in range(n):
            x = np.concatenate([np.tanh(x), x])[1:len(x) + 1]
        return x

    return chain(f"%x: {ROW}", step, n, head, kind), run, 1


def reshapes(n):
    """Layers of unknown sizes, each with weights of its own: the host computes sizes, and compares them."""
    rows, line = "tensor<?x8xf32>", "tensor<?xf32>"
    head = ("  %c0 = arith.constant 0 : index\n  %c1 = arith.constant 1 : index\n  %c8 = arith.constant 8 : index\n  %zero = arith.constant 0.0 : f32\n"
            f"  %size = tensor.dim %x, %c0 : {SQUARE}\n  %v0 = tensor.cast %x : {SQUARE} to {rows}\n")

    def step(i):
        return (f"  %d{i} = tensor.dim %v{i}, %c0 : {rows}\n  %a{i} = arith.muli %d{i}, %c8 : index\n  %e{i} = tensor.empty(%d{i}) : {rows}\n"
                f"  %z{i} = linalg.fill ins(%zero : f32) outs(%e{i} : {rows}) -> {rows}\n"
                f"  %m{i} = linalg.matmul ins(%v{i}, %w : {rows}, {SQUARE}) outs(%z{i} : {rows}) -> {rows}\n"
                f"  %s{i} = tensor.from_elements %a{i} : tensor<1xindex>\n  %l{i} = tensor.reshape %m{i}(%s{i}) : ({rows}, tensor<1xindex>) -> {line}\n"
                f"  %t{i} = math.tanh %l{i} : {line}\n  %b{i} = tensor.dim %t{i}, %c0 : {line}\n  %r{i} = arith.divui %b{i}, %c8 : index\n"
                f"  %f{i} = tensor.from_elements %r{i}, %c8 : tensor<2xindex>\n"
                f"  %v{i + 1} = tensor.reshape %t{i}(%f{i}) : ({line}, tensor<2xindex>) -> {rows}\n")

    def run(x, w):
        for _ in range(n):
            x = np.tanh(x @ w)
        return x

    return chain(f"%x: {SQUARE}, %w: {SQUARE}", step, n, head, rows), run, 2


def calls(n):
    other = f"func.func private @other(%x: {ROW}) -> {ROW} attributes {{noinline}} {{\n  %t = math.tanh %x : {ROW}\n  return %t : {ROW}\n}}\n"
    text = chain(f"%v0: {ROW}", lambda i: f"  %v{i + 1} = call @other(%v{i}) : ({ROW}) -> {ROW}\n", n)

    def run(x):
        for _ in range(n):
            x = np.tanh(x)
        return x

    return other + text, run, 1


def callees(n):
    """Each function calls the one before."""
    text = f"func.func private @f0(%x: {ROW}) -> {ROW} {{\n  %t = math.tanh %x : {ROW}\n  return %t : {ROW}\n}}\n"
    for i in range(1, n):
        text += (f"func.func private @f{i}(%x: {ROW}) -> {ROW} {{\n  %c = call @f{i - 1}(%x) : ({ROW}) -> {ROW}\n"
                 f"  %t = math.tanh %c : {ROW}\n  return %t : {ROW}\n}}\n")
    text += f"func.func @main(%x: {ROW}) -> {ROW} {{\n  %t = call @f{n - 1}(%x) : ({ROW}) -> {ROW}\n  return %t : {ROW}\n}}\n"

    def run(x):
        for _ in range(n):
            x = np.tanh(x)
        return x

    return text, run, 1


def sums(n):
    """Two tensors go through all steps."""
    def step(i):
        return (f"  %t{i} = math.tanh %v{i} : {ROW}\n  %s{i + 1} = arith.addf %s{i}, %t{i} : {ROW}\n  %e{i} = math.exp %t{i} : {ROW}\n"
                f"  %v{i + 1} = arith.{'addf' if i == n - 1 else 'subf'} %e{i}, %s{i + 1} : {ROW}\n")

    def run(x):
        total = np.zeros_like(x)
        for _ in range(n):
            t = np.tanh(x)
            total += t
            x = np.exp(t) - total
        return x + 2 * total

    return chain(f"%v0: {ROW}", step, n, f"  %s0 = arith.constant dense<0.0> : {ROW}\n"), run, 1


def row_of(source, target, i):
    """Row 0 of a tensor, twice as large, as row %i of another."""
    return (f"    %r{i} = tensor.extract_slice %{source}[0, 0] [1, 8] [1, 1] : {SQUARE} to {ROW}\n    %t{i} = arith.addf %r{i}, %r{i} : {ROW}\n"
            f"    %u{i} = tensor.insert_slice %t{i} into %{target}[%i{i}, 0] [1, 8] [1, 1] : {ROW} into {SQUARE}\n")


def updates(n):
    """A loop that updates what it carries, row by row."""
    def step(i):
        return f"  %i{i} = arith.constant {i % 7 + 1} : index\n{row_of(f'v{i}', f'v{i}', i)}    %v{i + 1} = tensor.cast %u{i} : {SQUARE} to {SQUARE}\n"

    def run(x):
        x = x.copy()
        x[1:] = 2 * x[0]
        return x

    body = "".join(step(i) for i in range(n))
    return (f"func.func @main(%x: {SQUARE}) -> {SQUARE} {{\n  %c0 = arith.constant 0 : index\n  %c1 = arith.constant 1 : index\n"
            f"  %c3 = arith.constant 3 : index\n  %y = scf.for %i = %c0 to %c3 step %c1 iter_args(%v0 = %x) -> ({SQUARE}) {{\n{body}"
            f"    scf.yield %v{n} : {SQUARE}\n  }}\n  return %y : {SQUARE}\n}}\n"), run, (8, 8)


def choices(n):
    """Each branch updates the tensor or hands it on: the first ones what the caller has."""
    def step(i):
        return (f"  %k{i} = arith.constant {i} : i32\n  %i{i} = arith.constant {i % 7 + 1} : index\n  %c{i} = arith.cmpi sgt, %k{i}, %n : i32\n"
                f"  %v{i + 1} = scf.if %c{i} -> ({SQUARE}) {{\n{row_of('v0', f'v{i}', i)}    scf.yield %u{i} : {SQUARE}\n"
                f"  }} else {{\n    scf.yield %v{i} : {SQUARE}\n  }}\n")

    def run(x):
        x = x.copy()
        x[[i % 7 + 1 for i in range(n // 2 + 1, n)]] = 2 * x[0]
        return x

    head = f"  %half = arith.constant {n // 2} : i32\n  %n = util.optimization_barrier %half : i32\n"
    return chain(f"%v0: {SQUARE}", step, n, head, SQUARE), run, (8, 8)


FAMILIES = [pointwise, constants, layers, branches, loops, slices, sizes, reshapes, calls, callees, sums, updates, choices]


def compile_timed(text, folder):
    """The program, and the processor time that it took to compile it."""
    source, program = folder / "deep.mlir", folder / "deep.bvm"
    source.write_text(text, encoding="utf-8")
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    tools.compile_program(source, program)
    return program, resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def check_results(family, folder):
    text, run, arguments = family(CALCULATED)
    shapes = [arguments] if isinstance(arguments, tuple) else [(8, 8) if family in (layers, reshapes) else (8,)] * arguments
    rng = np.random.default_rng(1)
    given = [rng.uniform(-1, 1, shape).astype(np.float32) for shape in shapes]
    wanted = run(*given).astype(np.float32)
    program, _ = compile_timed(text, folder)
    return tools.difference(wanted, tools.call(program, "main", given, [wanted], folder)[0], tolerance=1e-4)


def main():
    names = sys.argv[1:]
    problems = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for family in FAMILIES:
            if names and family.__name__ not in names:
                continue
            off = check_results(family, folder)
            if off:
                problems.append(f"{family.__name__}: {off}")
            small, large = (compile_timed(family(n)[0], folder)[1] for n in (SMALL, LARGE))
            if large > GROWTH_MAX * small:  # Other work of the machine may have been in between.
                small, large = (max(small, compile_timed(family(SMALL)[0], folder)[1]), min(large, compile_timed(family(LARGE)[0], folder)[1]))
            print(f"{family.__name__}: {small:.2f} s for {SMALL} steps, {large:.2f} s for {LARGE}")
            if large > GROWTH_MAX * small:
                problems.append(f"{family.__name__}: {LARGE} steps take {large / small:.1f} times as long as {SMALL}, at most {GROWTH_MAX} times is linear")
    if problems:
        raise SystemExit("\n".join(problems))


if __name__ == "__main__":
    main()
