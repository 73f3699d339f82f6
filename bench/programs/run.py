#!/usr/bin/env python3
"""The programs of programs.py compiled by Baton, beside jax.jit, on one core.

    bench/programs/run.py                          with a Python that has JAX, or build/jax/bin/python where that is one
    bench/programs/run.py --only=mlp,gelu --rounds=9
    bench/programs/run.py --type=float16

Answers are compared with the same function in float64 before anything is timed. Times are processor time: contenders are
pinned to one core and asked in turns, and each figure is the least of the rounds, because what else runs on a machine only
adds. "with libraries" is the same compiled with --library=blas and run with that plugin. A row is marked where an answer is too far off. IREE stands beside them where build/iree has its tools.
"""

import argparse
import dataclasses
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench/support"))
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})

try:
    import jax
except ImportError:
    other = ROOT / "build/jax/bin/python"
    if other.exists() and pathlib.Path(sys.prefix) != other.parents[1]:
        os.execv(other, [str(other), *sys.argv])
    print("bench/programs is left out: neither this Python nor build/jax has JAX")
    sys.exit(0)

import machine  # noqa: E402
import numpy as np  # noqa: E402
import table  # noqa: E402
from lower import lower  # noqa: E402
from programs import PROGRAMS, Program  # noqa: E402

US = {"ns": 1e-3, "us": 1, "ms": 1e3, "s": 1e6}
HALF_TOLERANCE = 4e-3  # Of the largest element: a step of f16 at the end, and a few before.
RUN_FOR_S = 0.1


class Failed(Exception):
    """What a tool said when it failed."""


@dataclasses.dataclass
class Row:
    """What is known of a program; None where a contender has no figure."""

    compile_ms: float | None = None
    error: float | None = None
    baton_us: list[float] = dataclasses.field(default_factory=list)
    library_us: list[float] = dataclasses.field(default_factory=list)
    xla_us: list[float] = dataclasses.field(default_factory=list)
    iree_us: list[float] = dataclasses.field(default_factory=list)
    remark: str = ""


def run(command: list) -> str:
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False, timeout=300)
    if done.returncode != 0:
        said = [line for line in done.stderr.splitlines() if "error" in line] or done.stderr.splitlines()[-1:] or ["no word"]
        raise Failed(said[0][-120:])
    return done.stdout


def truth(program: Program, inputs: list[np.ndarray]) -> np.ndarray:
    with jax.enable_x64(True):
        return np.asarray(jax.jit(program.function)(*[value.astype(np.float64) for value in inputs]))


def distance(answer: np.ndarray, wanted: np.ndarray) -> float:
    """Of the farthest element, as a share of the largest one."""
    if answer.shape != wanted.shape or not np.isfinite(answer.astype(np.float64)).all():
        return float("inf")
    return float(np.abs(answer.astype(np.float64) - wanted).max() / np.abs(wanted).max())


class Baton:
    def __init__(self, build: pathlib.Path, folder: pathlib.Path, device: str, libraries: tuple[str, ...] = ()):
        self.build, self.folder, self.device, self.libraries = build, folder, device, libraries
        folder.mkdir(parents=True, exist_ok=True)

    def compile(self, program: Program, kind: str) -> float:
        source = self.folder / f"{program.name}.mlir"
        source.write_text(lower(program, kind))
        begin = time.perf_counter()
        run([self.build / "bin/baton-compile", source, "--target-backends=llvm-cpu", "--cpu-levels=host", *[f"--library={each}" for each in self.libraries], "-o", self._module(program)])
        return (time.perf_counter() - begin) * 1e3

    def answer(self, program: Program, inputs: list[np.ndarray]) -> np.ndarray:
        for i, value in enumerate(inputs):
            np.save(self._input(program, i), value)
        result = self.folder / "result.npy"
        run([self.build / "bin/baton-run-module", *self._call(program), f"--output=@{result}"])
        return np.load(result)

    def call_us(self, program: Program) -> float:
        sampling = ["--benchmark_format=json", f"--benchmark_min_time={RUN_FOR_S}", "--benchmark_repetitions=3",
                    "--benchmark_filter=^main/"]
        output = json.loads(run([self.build / "bin/baton-benchmark-module", *self._call(program), *sampling]))
        return min(row["cpu_time"] * US[row["time_unit"]] for row in output["benchmarks"]
                   if row["run_type"] == "iteration" and re.match(r"main(/|$)", row["name"]))

    def _module(self, program: Program) -> pathlib.Path:
        return self.folder / f"{program.name}.bvm"

    def _input(self, program: Program, i: int) -> pathlib.Path:
        return self.folder / f"{program.name}.{i}.npy"

    def _call(self, program: Program) -> list:
        inputs = [f"--input=@{self._input(program, i)}" for i in range(len(program.shapes))]
        plugins = [f"--module={self.build}/libraries/{each}.so" for each in self.libraries]
        return [*plugins, f"--module={self._module(program)}", "--function=main", f"--device={self.device}", *inputs]


class Xla:
    """jax.jit in this process, which has one core."""

    def __init__(self):
        self.made: dict[str, tuple] = {}

    def prepare(self, program: Program, inputs: list[np.ndarray]) -> None:
        compiled, placed = jax.jit(program.function), [jax.device_put(value) for value in inputs]
        compiled(*placed).block_until_ready()
        self.made[program.name] = (compiled, placed)

    def call_us(self, program: Program) -> float:
        compiled, placed = self.made[program.name]
        best, begin = float("inf"), time.perf_counter()
        while time.perf_counter() - begin < RUN_FOR_S * 3:
            before = time.process_time()
            for _ in range(4):
                compiled(*placed).block_until_ready()
            best = min(best, (time.process_time() - before) / 4 * 1e6)
        return best


class Iree:
    def __init__(self, environment: pathlib.Path, folder: pathlib.Path):
        self.environment, self.folder = environment, folder

    def there(self) -> bool:
        return (self.environment / "bin/iree-compile").exists()

    def compile(self, program: Program) -> None:
        run([self.environment / "bin/iree-compile", self.folder / f"{program.name}.mlir", "--iree-hal-target-backends=llvm-cpu",
             "--iree-llvmcpu-target-cpu=host", "--iree-opt-level=O3", "-o", self._module(program)])

    def call_us(self, program: Program) -> float:
        inputs = [f"--input=@{self.folder}/{program.name}.{i}.npy" for i in range(len(program.shapes))]
        output = json.loads(run([self.environment / "bin/iree-benchmark-module", f"--module={self._module(program)}",
                                 "--function=main", "--device=local-sync", *inputs, "--benchmark_format=json",
                                 f"--benchmark_min_time={RUN_FOR_S}s"]))
        return min(row["cpu_time"] * US[row["time_unit"]] for row in output["benchmarks"] if row["run_type"] == "iteration")

    def _module(self, program: Program) -> pathlib.Path:
        return self.folder / f"{program.name}.vmfb"


def check(program: Program, baton: Baton, by_library: Baton, kind: str, row: Row) -> list[np.ndarray]:
    inputs = program.inputs(np.dtype(kind))
    wanted = truth(program, inputs)
    row.compile_ms = baton.compile(program, kind)
    by_library.compile(program, kind)
    row.error = max(distance(each.answer(program, inputs), wanted) for each in (baton, by_library))
    limit = program.tolerance if kind == "float32" else HALF_TOLERANCE
    if row.error > limit:
        row.remark = f"WRONG: more than {limit:g}"
    return inputs


def measure(programs: list[Program], baton: Baton, by_library: Baton, iree: Iree, kind: str, rounds: int) -> dict[str, Row]:
    rows, xla = {program.name: Row() for program in programs}, Xla()
    for program in programs:
        row = rows[program.name]
        try:
            xla.prepare(program, check(program, baton, by_library, kind, row))
            if iree.there():
                iree.compile(program)
        except (Failed, subprocess.TimeoutExpired) as problem:
            row.remark = str(problem)
    for _ in range(rounds):
        for program in programs:
            row = rows[program.name]
            if row.error is None:
                continue
            row.baton_us.append(baton.call_us(program))
            row.library_us.append(by_library.call_us(program))
            row.xla_us.append(xla.call_us(program))
            if iree.there():
                row.iree_us.append(iree.call_us(program))
    return rows


def print_table(rows: dict[str, Row]) -> bool:
    lines, ratios = [], []
    for name, row in rows.items():
        baton, library, xla, iree = (min(times, default=None) for times in (row.baton_us, row.library_us, row.xla_us, row.iree_us))
        ratio = baton / min(value for value in (xla, iree) if value) if baton and xla else None
        if ratio:
            ratios.append(ratio)
        lines.append([name, table.figure(row.compile_ms), table.figure(baton), table.figure(library), table.figure(xla), table.figure(iree),
                      table.figure(ratio), "-" if row.error is None else f"{row.error:.1e}", row.remark])
    print(table.render(["program", "compile ms", "Baton us", "with libraries", "XLA us", "IREE us", "to the best", "off by", ""], lines))
    if ratios:
        print(f"\ngeometric mean of {len(ratios)} ratios: {float(np.exp(np.mean(np.log(ratios)))):.2f}")
    return not any(row.remark for row in rows.values())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    parser.add_argument("--iree", type=pathlib.Path, default=ROOT / "build/iree")
    parser.add_argument("--only", default="", help="names, with commas between")
    parser.add_argument("--type", default="float32", choices=["float32", "float16"])
    parser.add_argument("--device", default="local-sync")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--keep", type=pathlib.Path, help="a folder for texts, modules and inputs")
    options = parser.parse_args()
    programs = [program for program in PROGRAMS if not options.only or program.name in options.only.split(",")]
    print(*machine.describe(options.build), sep="\n")
    print(f"jax       {jax.__version__}, one core, {options.type}; load {os.getloadavg()[0]:.1f}")
    with tempfile.TemporaryDirectory() as temporary:
        folder = (options.keep or pathlib.Path(temporary)).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        iree = Iree(options.iree, folder)
        if not iree.there():
            print(f"IREE      left out: no {options.iree.name}/bin/iree-compile in the build folder")
        print()
        return 0 if print_table(measure(programs, Baton(options.build, folder, options.device),
                                      Baton(options.build, folder / "libraries", options.device, ("blas",)), iree, options.type, options.rounds)) else 1


if __name__ == "__main__":
    raise SystemExit(main())
