#!/usr/bin/env python3
"""A layer of two products on several ranks beside one: how many times as fast tensor parallelism makes it.

    bench/programs/mlp_ranks.py                            two GPUs, float16
    bench/programs/mlp_ranks.py --device=local-sync --sizes 64x256x1024 --type=f32
    bench/programs/mlp_ranks.py --pack=build/carry/cuda    compiles for a machine without compilers; there: --programs=FOLDER

Each of N ranks has an N-th of the hidden units, as in samples/collectives/mlp.mlir, and an all-reduce adds their parts; the program of
one rank has none. Answers are compared before anything is timed. Rounds take turns, each a run of baton-benchmark-module by
as many processes; a call is as slow as its slowest rank, and medians of the rounds count. Sizes are rows, width and hidden units: the more hidden units, the more there is to compute for what is
added. On two GPUs 1.7 is to be reached at a size where it can be.
"""

import argparse
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE), str(HERE.parent / "support")]  # The first where all was carried into one folder.
import ranks as benchmarked  # noqa: E402
REACH = {2: 1.7}

PROGRAM = """
func.func @mlp(%x: tensor<{rows}x{width}x{type}>, %first: tensor<{width}x{part}x{type}>, %second: tensor<{part}x{width}x{type}>)
    -> tensor<{rows}x{width}x{type}> {{
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<{rows}x{part}xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%e : tensor<{rows}x{part}xf32>) -> tensor<{rows}x{part}xf32>
  %product = linalg.matmul ins(%x, %first : tensor<{rows}x{width}x{type}>, tensor<{width}x{part}x{type}>)
      outs(%zeros : tensor<{rows}x{part}xf32>) -> tensor<{rows}x{part}xf32>
  %positive = arith.maximumf %product, %zeros : tensor<{rows}x{part}xf32>
{narrow_hidden}
  %n = tensor.empty() : tensor<{rows}x{width}xf32>
  %start = linalg.fill ins(%zero : f32) outs(%n : tensor<{rows}x{width}xf32>) -> tensor<{rows}x{width}xf32>
  %sum = linalg.matmul ins(%hidden, %second : tensor<{rows}x{part}x{type}>, tensor<{part}x{width}x{type}>)
      outs(%start : tensor<{rows}x{width}xf32>) -> tensor<{rows}x{width}xf32>
{narrow_sum}
{together}
}}
"""
ALONE = "  return %own : tensor<{rows}x{width}x{type}>"
TOGETHER = """  %all = flow.channel.default : !flow.channel
  %like = tensor.empty() : tensor<{rows}x{width}x{type}>
  %whole = flow.collective.all_reduce sum, {type}, %like, %own, %all
      : (tensor<{rows}x{width}x{type}>, tensor<{rows}x{width}x{type}>, !flow.channel) -> %like as tensor<{rows}x{width}x{type}>
  return %whole : tensor<{rows}x{width}x{type}>"""


def program(options, ranks):
    sizes = {"rows": options.rows, "width": options.width, "part": options.hidden // ranks, "type": options.type}

    def narrow(value, name, columns):
        shape = f"tensor<{options.rows}x{columns}x"
        if options.type == "f32":  # The same value by the other name.
            return f"  %{name} = tensor.cast %{value} : {shape}f32> to {shape}f32>"
        return f"  %{name} = arith.truncf %{value} : {shape}f32> to {shape}{options.type}>"

    return PROGRAM.format(**sizes, narrow_hidden=narrow("positive", "hidden", sizes["part"]), narrow_sum=narrow("sum", "own", options.width),
                          together=(TOGETHER if ranks > 1 else ALONE).format(**sizes))


def name_of(options, ranks):
    return f"mlp_{options.type}_{options.rows}x{options.width}x{options.hidden}_{ranks}.bvm"


def compile_for(options, folder, ranks):
    target = "cuda" if options.device.startswith("cuda") else "local"
    subprocess.run([options.bin / "baton-compile", f"--target-device={target}", "-", "-o", folder / name_of(options, ranks)], check=True,
                   input=program(options, ranks), text=True)


class Layer:
    """The layer on so many ranks."""

    def __init__(self, options, folder, work, ranks):
        self.options, self.folder, self.work, self.ranks = options, folder, work, ranks
        part = options.hidden // ranks
        # Powers of two, whose sums are exact: a row of ones in the first product, and a half in the end, on every rank.
        self.inputs = [f"--input={options.rows}x{options.width}x{options.type}=0.5",
                       f"--input={options.width}x{part}x{options.type}={1 / options.width}",
                       f"--input={part}x{options.width}x{options.type}={1 / options.hidden}"]

    def command(self, tool):
        device = benchmarked.device_of(self.options.device, self.ranks)
        return [self.options.bin / tool, self.folder / name_of(self.options, self.ranks), f"--device={device}", "--function=mlp", *self.inputs]

    def check(self):
        expected = f"--expected_output={self.options.rows}x{self.options.width}x{self.options.type}=0.5"
        benchmarked.run([*self.command("baton-run-module"), expected], self.ranks, self.work)

    def microseconds(self):
        """Of a call, on its slowest rank."""
        return benchmarked.slowest_us(self.command("baton-benchmark-module"), "mlp", self.ranks, self.work, self.options.calls, 3)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, default=ROOT / "build/release/bin", help="folder of the tools")
    parser.add_argument("--device", default="cuda?cuda_mode=graph", help="URI; for CUDA each rank gets the GPU of its number")
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--sizes", nargs="+", default=["4096x4096x16384", "4096x8192x32768"], metavar="ROWSxWIDTHxHIDDEN")
    parser.add_argument("--type", choices=["f16", "f32"], default="f16")
    parser.add_argument("--calls", type=int, default=20, help="of each repetition")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--pack", type=pathlib.Path, help="compiles for one, two and four ranks into this folder, and runs nothing")
    parser.add_argument("--programs", type=pathlib.Path, help="folder of what --pack compiled, and of the tools")
    options = parser.parse_args()
    if options.programs:
        options.bin = options.programs = options.programs.resolve()
    if not options.pack:
        print(f"{options.type}, on {options.device}, {os.cpu_count()} cores")
    for size in options.sizes:
        options.rows, options.width, options.hidden = map(int, size.split("x"))
        if options.pack:
            for ranks in (1, 2, 4):
                compile_for(options, options.pack, ranks)
        else:
            compare(options, size)
    return 0


def compare(options, size):
    with tempfile.TemporaryDirectory() as name:
        work = pathlib.Path(name)
        layers = [Layer(options, options.programs or work, work, ranks) for ranks in (1, options.ranks)]
        for layer in layers:
            if not options.programs:
                compile_for(options, work, layer.ranks)
            layer.check()
        times = [[layer.microseconds() for layer in layers] for _ in range(options.rounds)]
    one, several = (statistics.median(column) for column in zip(*times))
    ratio, reach = one / several, REACH.get(options.ranks)
    operations = 4e-6 * options.rows * options.width * options.hidden
    verdict = "" if reach is None or not options.device.startswith("cuda") else f", >= {reach}: {'yes' if ratio >= reach else 'NO'}"
    print(f"{size}: one rank {one:.1f} us ({operations / one:.1f} TFLOP/s), {options.ranks} ranks {several:.1f} us: {ratio:.2f} x{verdict}",
          flush=True)


if __name__ == "__main__":
    sys.exit(main())
