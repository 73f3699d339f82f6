#!/usr/bin/env python3
"""How many times as fast ranks make a token: bench_ranks.py llama-30B [--ranks=1,2,4] [--kind=bf16] [--position=1000]

Each rank decodes with its part of the heads, of the hidden units and of the logits, on the GPU of its number; collective commands in the step
add up what they make. Weights are random, made on the device (compile.py --random). A round is a run of baton-benchmark-module by as many
processes; a call is as slow as its slowest rank, and medians count. --pack=FOLDER compiles for a machine without JAX and runs nothing; there,
beside the tools and run_ranks.py: --programs=FOLDER.
"""
import argparse
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
REACH = {2: 1.6, 4: 2.5}  # Of a model like llama-30B.


def name_of(options, ranks):
    return f"{options.model}_{options.kind}_{ranks}.bvm"


def compile_for(options, folder, ranks):
    """The program, and beside it what its step takes."""
    sys.path.insert(0, str(HERE))
    import dataclasses

    import model as models
    model = dataclasses.replace(models.shared(models.MODELS[options.model], ranks), kind=options.kind)
    target = "cuda" if options.device.startswith("cuda") else "local"
    subprocess.run([sys.executable, HERE / "compile.py", options.model, f"--kind={options.kind}", f"--ranks={ranks}", "--random", f"--target={target}",
                    "-o", folder / name_of(options, ranks)], check=True)
    kind = {"f32": "f32", "bf16": "bf16", "int8": "f32"}[options.kind]
    inputs = [f"1x{model.context}x{model.kept_heads}x{model.head}x{kind}=0"] * (2 * model.layers)
    described = {"inputs": inputs, "bytes": sum(each.size * each.dtype.itemsize for each in models.shapes(model).values())}
    (folder / name_of(options, ranks)).with_suffix(".json").write_text(json.dumps(described), encoding="utf-8")


def milliseconds(options, folder, work, ranks):
    """Of a step, on its slowest rank."""
    described = json.loads((folder / name_of(options, ranks)).with_suffix(".json").read_text(encoding="utf-8"))
    store, out = work / "ranks", str(work / f"{ranks}_{{rank}}.json")
    store.unlink(missing_ok=True)
    kind, mark, parameters = options.device.partition("?")
    device = f"{kind}://{{rank}}{mark}{parameters}" if kind == "cuda" else options.device
    command = [options.bin / "baton-benchmark-module", f"--module={options.plugin}", f"--module={folder / name_of(options, ranks)}",
               f"--device={device if ranks > 1 else options.device}", "--function=decode", *(f"--input={each}" for each in described["inputs"]),
               "--input=1x1xi32=7", f"--input=1xi32={options.position}", "--input=1x4xf32=0,0,1,0", "--benchmark_filter=^decode/",
               f"--iterations={options.calls}", f"--benchmark_repetitions={options.rounds}",
               f"--benchmark_out={out if ranks > 1 else out.format(rank=0)}"]
    if ranks > 1:
        starts = next(path for path in (HERE / "run_ranks.py", ROOT / "tests/support/run_ranks.py") if path.is_file())
        command = [sys.executable, starts, ranks, f"file:{store}", *command]
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=options.limit, check=False,
                          env=os.environ | {"BATON_RANK_TIMEOUT": "200"})
    if done.returncode:
        raise SystemExit(re.sub(r"--input=\S+", "", " ".join(map(str, command))) + f"\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return max(of_rank(pathlib.Path(out.format(rank=rank))) for rank in range(ranks)), described["bytes"]


def of_rank(file):
    rows = [row for row in json.loads(file.read_text(encoding="utf-8"))["benchmarks"] if row["run_type"] == "iteration"]
    return statistics.median(row["real_time"] * {"ns": 1e-6, "us": 1e-3, "ms": 1, "s": 1e3}[row["time_unit"]] for row in rows)


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
