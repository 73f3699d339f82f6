#!/usr/bin/env python3
"""How many times as fast ranks make a token: bench_ranks.py llama-30B [--ranks=1,2,4] [--kind=bf16] [--position=1000]

Each rank decodes with its part of the heads, of the hidden units and of the logits, on the GPU of its number; collective commands in the step
add up what they make. Weights are random, made on the device (compile.py --random). A round is a run of baton-benchmark-module by as many
processes; a call is as slow as its slowest rank, and medians count. --pack=FOLDER compiles for a machine without JAX and runs nothing; there,
beside the tools, run_ranks.py and bench/support/ranks.py: --programs=FOLDER.
"""
import argparse
import dataclasses
import json
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE), str(ROOT / "bench/support")]  # The first where all was carried into one folder.
import ranks as benchmarked  # noqa: E402

REACH = {2: 1.6, 4: 2.5}  # Of a model like llama-30B.


def name_of(options, ranks):
    return f"{options.model}_{options.kind}_{ranks}.bvm"


def compile_for(options, folder, ranks):
    """The program, and beside it what its step takes."""
    import model as models  # Needs JAX, which another machine may not have.
    model = dataclasses.replace(models.shared(models.MODELS[options.model], ranks), kind=options.kind)
    target = "cuda" if options.device.startswith("cuda") else "local"
    subprocess.run([sys.executable, HERE / "compile.py", options.model, f"--kind={options.kind}", f"--ranks={ranks}", "--random", f"--target={target}",
                    "-o", folder / name_of(options, ranks)], check=True)
    inputs = [f"1x{model.context}x{model.kept_heads}x{model.head}x{options.kind}=0"] * (2 * model.layers)
    described = {"inputs": inputs, "bytes": sum(each.size * each.dtype.itemsize for each in models.shapes(model).values())}
    (folder / name_of(options, ranks)).with_suffix(".json").write_text(json.dumps(described), encoding="utf-8")


def milliseconds(options, folder, work, ranks):
    """Of a step, on its slowest rank; and the bytes of its weights."""
    described = json.loads((folder / name_of(options, ranks)).with_suffix(".json").read_text(encoding="utf-8"))
    command = [options.bin / "baton-benchmark-module", f"--module={options.plugin}", f"--module={folder / name_of(options, ranks)}",
               f"--device={benchmarked.device_of(options.device, ranks)}", "--function=decode", *(f"--input={each}" for each in described["inputs"]),
               "--input=1x1xi32=7", f"--input=1xi32={options.position}", "--input=1x4xf32=0,0,1,0"]
    took = benchmarked.slowest_us(command, "decode", ranks, work, options.calls, options.rounds, options.limit) / 1e3
    return took, described["bytes"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("--ranks", default="1,2,4")
    parser.add_argument("--kind", choices=("f32", "bf16"), default="bf16")
    parser.add_argument("--position", type=int, default=1000)
    parser.add_argument("--calls", type=int, default=20, help="of each round")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--limit", type=int, default=240, help="seconds for each number of ranks")
    parser.add_argument("--device", default="cuda?cuda_mode=graph", help="for CUDA each rank gets the GPU of its number")
    parser.add_argument("--bin", type=pathlib.Path, default=ROOT / "build/release/bin", help="folder of the tools")
    parser.add_argument("--plugin", type=pathlib.Path, default=ROOT / "build/release/samples/gpt/gpt.so")
    parser.add_argument("--pack", type=pathlib.Path)
    parser.add_argument("--programs", type=pathlib.Path)
    options = parser.parse_args()
    counts = [int(each) for each in options.ranks.split(",")]
    os.environ["BATON_RANK_TIMEOUT"] = "200"  # Seconds in which each rank makes its weights.
    if options.programs:
        options.bin = options.programs = options.programs.resolve()
        options.plugin = options.programs / "gpt.so"
    with tempfile.TemporaryDirectory() as name:
        work, one = pathlib.Path(name), None
        folder = options.pack or options.programs or work
        for ranks in counts:
            if not options.programs:
                compile_for(options, folder, ranks)
            if options.pack:
                continue
            took, size = milliseconds(options, folder, work, ranks)
            one = took if ranks == 1 else one
            times = f", {one / took:.2f} x" if one and ranks > 1 else ""
            reach = REACH.get(ranks) if times and options.model == "llama-30B" and options.device.startswith("cuda") else None
            verdict = "" if reach is None else f" (>= {reach}: {'yes' if one / took >= reach else 'NO'})"
            print(f"{options.model} in {options.kind}, {ranks} rank{'s' if ranks > 1 else ''}: {took:.3f} ms a token{times}{verdict}; "
                  f"{size / 1e9:.2f} GB of weights on each, {size / took / 1e9:.2f} TB/s", flush=True)


if __name__ == "__main__":
    main()
