#!/usr/bin/env python3
"""The programs of GPU_PROGRAMS on a GPU, beside PyTorch in a CUDA graph.

    bench/programs/gpu.py pack folder       here: compiles them (needs JAX); the folder goes to a machine with a GPU
    bench/programs/gpu.py run folder --tools=folder      there: needs PyTorch and Baton's tools

Inputs are made from a seed on both sides. Answers are compared with PyTorch's in float64 before anything is timed. A time is
one call that is waited for: `call` of Baton's benchmark tool, a replay and a wait in PyTorch, whose better of eager and
compiled counts. Each figure is the least of the rounds.
"""

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT / "bench/support"))
import table  # noqa: E402

US = {"ns": 1e-3, "us": 1, "ms": 1e3, "s": 1e6}
TOLERANCE = {"float32": 1e-4, "float16": 4e-3}  # Of the largest element; an f32 sum of 4096 products comes in any order.


def pack(folder: pathlib.Path, tools: pathlib.Path, only: list[str], flags: list[str]) -> int:
    from lower import lower
    from programs import GPU_PROGRAMS

    folder.mkdir(parents=True, exist_ok=True)
    shapes, failed = {}, 0
    for program in GPU_PROGRAMS:
        if only and program.name not in only:
            continue
        shapes[program.name] = program.shapes
        for kind in TOLERANCE:
            source, module = folder / f"{program.name}.{kind}.mlir", folder / f"{program.name}.{kind}.bvm"
            source.write_text(lower(program, kind))
            begin = time.perf_counter()
            done = subprocess.run([tools / "baton-compile", source, "--target-device=cuda", *flags, "-o", module],
                                  capture_output=True, text=True, check=False)
            source.unlink()
            failed += done.returncode != 0
            print(f"{program.name} {kind}: {(time.perf_counter() - begin) * 1e3:.0f} ms {done.stderr.strip()[-300:]}")
    (folder / "shapes.json").write_text(json.dumps(shapes))
    return 1 if failed else 0


def inputs_of(shapes: list, kind: str) -> list[np.ndarray]:
    """The numbers that programs.py makes."""
    made = np.random.default_rng(7)
    return [(made.standard_normal(shape) * (0.05 if n else 1.0)).astype(kind) for n, shape in enumerate(shapes)]


class Baton:
    def __init__(self, tools: pathlib.Path, device: str, folder: pathlib.Path, inputs: list[np.ndarray], module: pathlib.Path,
                 plugins: list[pathlib.Path] = ()):
        self.tools, self.result = tools, folder / "result.npy"
        for i, value in enumerate(inputs):
            np.save(folder / f"{i}.npy", value)
        self.call = [*(f"--module={plugin}" for plugin in plugins), f"--module={module}", "--function=main", f"--device={device}",
                     *[f"--input=@{folder}/{i}.npy" for i in range(len(inputs))]]

    def _run(self, tool: str, *flags: str) -> str:
        done = subprocess.run([self.tools / tool, *self.call, *flags], capture_output=True, text=True, check=False, timeout=120)
        if done.returncode != 0:
            raise RuntimeError(done.stderr.strip()[-200:])
        return done.stdout

    def answer(self) -> np.ndarray:
        self._run("baton-run-module", f"--output=@{self.result}")
        return np.load(self.result)

    def call_us(self) -> float:
        rows = json.loads(self._run("baton-benchmark-module", "--benchmark_format=json", "--benchmark_min_time=0.1",
                                    "--benchmark_repetitions=3", "--benchmark_filter=^main/"))["benchmarks"]
        return min(row["real_time"] * US[row["time_unit"]] for row in rows
                   if row["run_type"] == "iteration" and re.match(r"main(/|$)", row["name"]))


class Torch:
    """One function captured in a CUDA graph; as it is where it waits for the GPU, which no graph takes."""

    def __init__(self, function, inputs, in_graph=True):
        import torch

        self.torch, side = torch, torch.cuda.Stream()
        with torch.no_grad(), torch.cuda.stream(side):
            for _ in range(3):
                function(*inputs)
            side.synchronize()
            self.run = lambda: function(*inputs)
            if not in_graph:
                return
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph, stream=side):
                self.result = function(*inputs)
            self.run = graph.replay

    def call_us(self) -> float:
        best, begin = float("inf"), time.perf_counter()
        while time.perf_counter() - begin < 0.3:
            before = time.perf_counter()
            for _ in range(10):
                self.run()
                self.torch.cuda.synchronize()
            best = min(best, (time.perf_counter() - before) / 10 * 1e6)
        return best


def distance(answer: np.ndarray, wanted: np.ndarray) -> float:
    if answer.shape != wanted.shape or not np.isfinite(answer.astype(np.float64)).all():
        return float("inf")
    return float(np.abs(answer.astype(np.float64) - wanted).max() / np.abs(wanted).max())


def row_of(name: str, kind: str, shapes: list, options) -> list:
    import torch
    import torch_programs

    function = torch_programs.FUNCTIONS[name]
    inputs = inputs_of(shapes, kind)
    with tempfile.TemporaryDirectory() as temporary:
        baton = Baton(options.tools, options.device, pathlib.Path(temporary), inputs, options.folder / f"{name}.{kind}.bvm")
        placed = [torch.from_numpy(value).cuda() for value in inputs]
        with torch.no_grad():
            wanted = function(*[value.double() for value in placed]).cpu().numpy()
        try:
            error = distance(baton.answer(), wanted)
        except (RuntimeError, subprocess.TimeoutExpired) as problem:
            return [name, kind, "-", "-", "-", "-", "-", str(problem)[-90:]]
        contenders = {"eager": Torch(function, placed)}
        if options.compiled:
            contenders["compiled"] = Torch(torch.compile(function), placed)
        best = {"baton": float("inf"), **dict.fromkeys(contenders, float("inf"))}
        for _ in range(options.rounds):
            best["baton"] = min(best["baton"], baton.call_us())
            for each, made in contenders.items():
                best[each] = min(best[each], made.call_us())
    peer = min(best[each] for each in contenders)
    return [name, kind, table.figure(best["baton"]), table.figure(best["eager"]), table.figure(best.get("compiled")),
            table.figure(best["baton"] / peer), f"{error:.1e}", "WRONG" if error > TOLERANCE[kind] else ""]


def run(options) -> int:
    import torch

    sys.path.insert(0, str(HERE))
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}, TF32 off, {options.device}, load {os.getloadavg()[0]:.1f}\n")
    shapes = json.loads((options.folder / "shapes.json").read_text())
    rows = [row_of(name, kind, shapes[name], options) for kind in TOLERANCE for name in shapes
            if not options.only or name in options.only.split(",")]
    print(table.render(["program", "type", "Baton us", "eager us", "compiled us", "to the best", "off by", ""], rows))
    ratios = [float(row[5]) for row in rows if row[5] != "-"]
    print(f"\ngeometric mean of {len(ratios)} ratios: {float(np.exp(np.mean(np.log(ratios)))):.2f}")
    return 1 if any(row[-1] for row in rows) else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("verb", choices=["pack", "run"])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--tools", type=pathlib.Path, default=ROOT / "build/release/bin", help="the folder of Baton's tools")
    parser.add_argument("--only", default="", help="names, with commas between")
    parser.add_argument("--device", default="cuda?cuda_mode=graph")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--compiled", action="store_true", help="torch.compile stands beside eager")
    parser.add_argument("--flag", action="append", default=[], help="for baton-compile, while packing")
    options = parser.parse_args()
    if options.verb == "pack":
        return pack(options.folder, options.tools, options.only.split(",") if options.only else [], options.flag)
    return run(options)


if __name__ == "__main__":
    raise SystemExit(main())
