#!/usr/bin/env python3
"""Tensors of integers of each width from 1 to 128 bits, two of them kept in buffers at once: right numbers, or a sentence.

    integers_of_all_widths.py baton-compile baton-run-module folder
"""
import pathlib
import subprocess
import sys

compiler, runner, folder = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
folder.mkdir(exist_ok=True)
HELD = (*range(1, 9), 16, 32, 64, 128)  # What compiler-lite/README.md says.
A = [number * 37 - 700 for number in range(64)]
B = [number * -11 + 5 for number in range(64)]


def cast(width, narrows, value, target):
    """A function's line that brings tensors of i64 to the width, or back."""
    if width == 64:
        return f"  {target} = util.optimization_barrier {value} : tensor<64xi64>\n"
    name = "trunci" if (width < 64) == narrows else "extsi"
    types = ("i64", f"i{width}") if narrows else (f"i{width}", "i64")
    return f"  {target} = arith.{name} {value} : tensor<64x{types[0]}> to tensor<64x{types[1]}>\n"


def function(width):
    held = f"tensor<64xi{width}>"
    return (f"func.func @f{width}(%a: tensor<64xi64>, %b: tensor<64xi64>) -> (tensor<64xi64>, tensor<64xi64>, tensor<64xi64>) {{\n"
            + cast(width, True, "%a", "%0") + cast(width, True, "%b", "%1") + f"  %c = arith.constant dense<[{', '.join(['0', '-1'] * 32)}]> : {held}\n"
            f"  %2:3 = util.optimization_barrier %0, %1, %c : {held}, {held}, {held}\n"
            + cast(width, False, "%2#0", "%3") + cast(width, False, "%2#1", "%4") + cast(width, False, "%2#2", "%5")
            + "  return %3, %4, %5 : tensor<64xi64>, tensor<64xi64>, tensor<64xi64>\n}\n")


def compile_program(name, text):
    (folder / f"{name}.mlir").write_text(text)
    return subprocess.run([compiler, "--target-device=local", "--cpu-levels=host", str(folder / f"{name}.mlir"), "-o", str(folder / f"{name}.bvm")],
                          capture_output=True, text=True)


def cut(value, width):
    value &= 2**min(width, 64) - 1
    return value - 2**min(width, 64) if value >> (min(width, 64) - 1) else value


wrong = 0
done = compile_program("held", "".join(function(width) for width in HELD))
print(done.stderr, end="")
for width in HELD:
    run = subprocess.run([runner, f"--module={folder / 'held.bvm'}", "--device=local-sync", f"--function=f{width}",
                          *("--input=64xi64=" + " ".join(map(str, values)) for values in (A, B))], capture_output=True, text=True)
    got = [list(map(int, line.split("=")[1].split())) for line in run.stdout.splitlines() if line.startswith("64xi64=")]
    if got != [[cut(value, width) for value in values] for values in (A, B, [0, -1] * 32)]:
        wrong += 1
        print(f"i{width}: {got} {run.stderr}")
refused = 0
for width in set(range(1, 129)) - set(HELD):
    done = compile_program("refused", function(width))
    if done.returncode == 1 and f"elements of 'tensor<64xi{width}>' are no integers of 1 to 8" in done.stderr:
        refused += 1
    else:
        print(f"i{width}: exit code {done.returncode} {done.stderr}")
print(f"{len(HELD)} widths, {wrong} wrong; {refused} refused")
