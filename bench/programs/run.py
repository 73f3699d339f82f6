#!/usr/bin/env python3
"""The programs of programs.py compiled by Baton, beside jax.jit and IREE, on one core or two.

    bench/programs/run.py                          with a Python that has JAX, or build/iree/bin/python where that is one
    bench/programs/run.py --only=mlp,gelu --rounds=9
    bench/programs/run.py --type=float16
    bench/programs/run.py --threads=2

Answers are compared with the same function in float64 before anything is timed. Contenders are pinned to as many cores as
there are threads and asked in turns, and each figure is the least of the rounds, because what else runs on a machine only
adds. On one core it is processor time; on two, the clock's. `--library=blas` compiles for that library, too, and runs with
its plugin. A row is marked where an answer is too far off, or where a contender failed. IREE (O3, this processor) stands
beside them where build/iree has its tools; it starts from the StableHLO that JAX writes.
"""

import argparse
import dataclasses
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench/support"))


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    parser.add_argument("--iree", type=pathlib.Path, default=ROOT / "build/iree")
    parser.add_argument("--only", default="", help="names, with commas between")
    parser.add_argument("--type", default="float32", choices=["float32", "float16"])
    parser.add_argument("--threads", type=int, default=1, choices=[1, 2])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--peers", default="xla,iree", help="who stands beside Baton: xla, iree, both or none")
    parser.add_argument("--library", action="append", default=[], help="Baton once more, with this library")
    parser.add_argument("--flag", action="append", default=[], help="for baton-compile")
    parser.add_argument("--keep", type=pathlib.Path, help="a folder for texts, modules and inputs; IREE's modules are used again")
    return parser.parse_args()


OPTIONS = parse_options()
# Before JAX is there, which makes as many threads as the process has cores.
os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:OPTIONS.threads])

try:
    import jax
except ImportError:
    other = ROOT / "build/iree/bin/python"
    if other.exists() and pathlib.Path(sys.prefix) != other.parents[1]:
        os.execv(other, [str(other), *sys.argv])
    print("bench/programs is left out: neither this Python nor build/iree has JAX")
    sys.exit(0)

import machine  # noqa: E402
import numpy as np  # noqa: E402
import table  # noqa: E402
from lower import lower  # noqa: E402
from programs import PROGRAMS, Program  # noqa: E402

US = {"ns": 1e-3, "us": 1, "ms": 1e3, "s": 1e6}
HALF_TOLERANCE = 4e-3  # Of the largest element: a step of f16 at the end, and a few before.
RUN_FOR_S = 0.1
TIMEOUT_S = 60


class Failed(Exception):
    """What a tool said when it failed."""


def run(command: list) -> str:
    tool = subprocess.Popen([str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
    try:
        output, errors = tool.communicate(timeout=TIMEOUT_S)
    except subprocess.TimeoutExpired:
        os.killpg(tool.pid, signal.SIGKILL)  # A tool of a Python package is a script and the program that it runs.
        tool.communicate()
        raise Failed(f"no end within {TIMEOUT_S} s") from None
    if tool.returncode != 0:
        said = [line for line in errors.splitlines() if "error" in line] or errors.splitlines()[-1:] or ["no word"]
        raise Failed(said[0][-120:])
    return output


def shortest_us(text: str) -> float:
    """Of the repetitions that a benchmark tool tells of."""
    clock = "cpu_time" if OPTIONS.threads == 1 else "real_time"
    return min(row[clock] * US[row["time_unit"]] for row in json.loads(text)["benchmarks"]
               if row["run_type"] == "iteration" and not re.search(r"/(load|link|state|first)\b", row["name"]))


def results_of(program: Program, arguments: list) -> list[np.ndarray]:
    return [np.asarray(each) for each in jax.tree.leaves(jax.jit(program.function)(*arguments))]


def truth(program: Program, inputs: list[np.ndarray]) -> list[np.ndarray]:
    with jax.enable_x64(True):
        return results_of(program, [value.astype(np.float64) if value.dtype.kind == "f" else value for value in inputs])


def distance(answer: np.ndarray, wanted: np.ndarray) -> float:
    """Of the farthest element, as a share of the largest one."""
    if answer.shape != wanted.shape or not np.isfinite(answer.astype(np.float64)).all():
        return float("inf")
    return float(np.abs(answer.astype(np.float64) - wanted).max() / max(np.abs(wanted).max(), np.finfo(np.float64).tiny))


class Files:
    """Where the tools of a contender find a program and its inputs."""

    def __init__(self, folder: pathlib.Path, suffix: str):
        self.folder, self.suffix = folder, suffix
        folder.mkdir(parents=True, exist_ok=True)

    def source(self, program: Program) -> pathlib.Path:
        return self.folder / f"{program.name}.{OPTIONS.type}.mlir"

    def module(self, program: Program) -> pathlib.Path:
        return self.folder / f"{program.name}.{OPTIONS.type}.{self.suffix}"

    def write_inputs(self, program: Program, inputs: list[np.ndarray]) -> list[str]:
        flags = []
        for i, value in enumerate(inputs):
            path = self.folder / f"{program.name}.{OPTIONS.type}.{i}.npy"
            np.save(path, value)
            flags.append(f"--input=@{path}")
        return flags


class Baton:
    def __init__(self, folder: pathlib.Path, libraries: tuple[str, ...] = ()):
        self.files, self.libraries = Files(folder, "bvm"), libraries
        self.device = "local-sync" if OPTIONS.threads == 1 else f"local-task?workers={OPTIONS.threads}"
        self.calls: dict[str, list] = {}
        self.compile_ms: dict[str, float] = {}

    def prepare(self, program: Program, inputs: list[np.ndarray]) -> None:
        source, module = self.files.source(program), self.files.module(program)
        source.write_text(lower(program, OPTIONS.type))
        begin = time.perf_counter()
        run([OPTIONS.build / "bin/baton-compile", source, "--target-backends=llvm-cpu", "--cpu-levels=host",
             *[f"--library={each}" for each in self.libraries], *OPTIONS.flag, "-o", module])
        self.compile_ms[program.name] = (time.perf_counter() - begin) * 1e3
        plugins = [f"--module={OPTIONS.build}/libraries/{each}.so" for each in (*self.libraries, *program.libraries)]
        self.calls[program.name] = [*plugins, f"--module={module}", "--function=main", f"--device={self.device}",
                                    *self.files.write_inputs(program, inputs)]

    def answer(self, program: Program, count: int) -> list[np.ndarray]:
        paths = [self.files.folder / f"result{i}.npy" for i in range(count)]
        run([OPTIONS.build / "bin/baton-run-module", *self.calls[program.name], *[f"--output=@{path}" for path in paths]])
        return [np.load(path) for path in paths]

    def call_us(self, program: Program) -> float:
        return shortest_us(run([OPTIONS.build / "bin/baton-benchmark-module", *self.calls[program.name],
                                "--benchmark_format=json", f"--benchmark_min_time={RUN_FOR_S}",
                                "--benchmark_repetitions=3", "--benchmark_filter=^main(/|$)"]))


class Xla:
    """jax.jit in this process, which has as many threads as it has cores."""

    def __init__(self):
        self.made: dict[str, tuple] = {}

    def prepare(self, program: Program, inputs: list[np.ndarray]) -> None:
        compiled, placed = jax.jit(program.function), [jax.device_put(value) for value in inputs]
        jax.block_until_ready(compiled(*placed))
        self.made[program.name] = (compiled, placed)

    def call_us(self, program: Program) -> float:
        compiled, placed = self.made[program.name]
        clock = time.process_time if OPTIONS.threads == 1 else time.perf_counter
        best, begin = float("inf"), time.perf_counter()
        while time.perf_counter() - begin < RUN_FOR_S * 3:
            before = clock()
            for _ in range(4):
                jax.block_until_ready(compiled(*placed))
            best = min(best, (clock() - before) / 4 * 1e6)
        return best


class Iree:
    def __init__(self, folder: pathlib.Path):
        self.files = Files(folder, "vmfb")
        self.calls: dict[str, list] = {}

    @staticmethod
    def is_there() -> bool:
        return (OPTIONS.iree / "bin/iree-compile").exists()

    def prepare(self, program: Program, inputs: list[np.ndarray]) -> None:
        source, module = self.files.source(program), self.files.module(program)
        text = jax.jit(program.function).lower(*program.types(OPTIONS.type)).as_text()
        if not module.exists() or source.read_text() != text:
            source.write_text(text)
            run([OPTIONS.iree / "bin/iree-compile", source, "--iree-input-type=stablehlo", "--iree-hal-target-backends=llvm-cpu",
                 "--iree-llvmcpu-target-cpu=host", "--iree-opt-level=O3", "-o", module])
        threads = ["--device=local-sync"] if OPTIONS.threads == 1 else ["--device=local-task", f"--task_topology_group_count={OPTIONS.threads}"]
        self.calls[program.name] = [f"--module={module}", "--function=main", *threads, *self.files.write_inputs(program, inputs)]

    def call_us(self, program: Program) -> float:
        return shortest_us(run([OPTIONS.iree / "bin/iree-benchmark-module", *self.calls[program.name], "--benchmark_format=json",
                                f"--benchmark_min_time={RUN_FOR_S}s", "--benchmark_repetitions=3"]))


@dataclasses.dataclass
class Row:
    """What is known of a program; nothing stands where a contender has no figure."""

    error: float | None = None
    times_us: dict[str, list[float]] = dataclasses.field(default_factory=dict)
    remarks: list[str] = dataclasses.field(default_factory=list)
    is_good: bool = True

    def least(self, contender: str) -> float | None:
        return min(self.times_us.get(contender, []), default=None)

    def ratio(self) -> float | None:
        peers = [least for least in (self.least("XLA"), self.least("IREE")) if least]
        return self.least("Baton") / min(peers) if peers and self.least("Baton") else None


def check(program: Program, baton: Baton, inputs: list[np.ndarray], row: Row) -> None:
    wanted = truth(program, inputs)
    errors = [distance(answer, true) for answer, true in zip(baton.answer(program, len(wanted)), wanted)]
    row.error = max(errors + [row.error or 0.0])
    limit = program.tolerance if OPTIONS.type == "float32" else HALF_TOLERANCE
    if row.error > limit:
        row.remarks.append(f"WRONG: more than {limit:g}")
        row.is_good = False


def prepare(programs: list[Program], contenders: dict, rows: dict[str, Row]) -> list[tuple]:
    """Who takes part with which program."""
    ready = []
    for program in programs:
        row, inputs = rows[program.name], program.inputs(np.dtype(OPTIONS.type))
        for name, contender in contenders.items():
            try:
                contender.prepare(program, inputs)
                if isinstance(contender, Baton):
                    check(program, contender, inputs, row)
                ready.append((program, name))
            except Failed as problem:
                row.remarks.append(f"{name}: {problem}")
                row.is_good = row.is_good and not isinstance(contender, Baton)
    return ready


def measure(programs: list[Program], contenders: dict) -> dict[str, Row]:
    rows = {program.name: Row() for program in programs}
    ready = prepare(programs, contenders, rows)
    for _ in range(OPTIONS.rounds):
        for program, name in list(ready):
            try:
                rows[program.name].times_us.setdefault(name, []).append(contenders[name].call_us(program))
            except Failed as problem:
                rows[program.name].remarks.append(f"{name}: {problem}")
                ready.remove((program, name))
    return rows


def print_table(rows: dict[str, Row], contenders: dict) -> bool:
    lines = [[name, table.figure(contenders["Baton"].compile_ms.get(name)), *[table.figure(row.least(each)) for each in contenders],
              table.figure(row.ratio()), "-" if row.error is None else f"{row.error:.1e}", " ".join(row.remarks)]
             for name, row in rows.items()]
    print(table.render(["program", "compile ms", *[f"{each} us" for each in contenders], "to the best", "off by", ""], lines))
    ratios = [ratio for ratio in (row.ratio() for row in rows.values()) if ratio]
    if ratios:
        print(f"\ngeometric mean of {len(ratios)} ratios: {float(np.exp(np.mean(np.log(ratios)))):.2f}, "
              f"{sum(ratio > 1.5 for ratio in ratios)} above 1.5")
    return all(row.is_good for row in rows.values())


def make_contenders(folder: pathlib.Path) -> dict:
    contenders = {"Baton": Baton(folder)}
    for library in OPTIONS.library:
        contenders[f"with {library}"] = Baton(folder / library, (library,))
    if "xla" in OPTIONS.peers:
        contenders["XLA"] = Xla()
    if "iree" in OPTIONS.peers:
        if Iree.is_there():
            contenders["IREE"] = Iree(folder / "iree")
        else:
            print(f"IREE      left out: no {OPTIONS.iree.name}/bin/iree-compile in the build folder")
    return contenders


def main() -> int:
    programs = [program for program in PROGRAMS if not OPTIONS.only or program.name in OPTIONS.only.split(",")]
    print(*machine.describe(OPTIONS.build), sep="\n")
    print(f"jax       {jax.__version__}, {OPTIONS.threads} of the cores, {OPTIONS.type}; load {os.getloadavg()[0]:.1f}\n")
    with tempfile.TemporaryDirectory() as temporary:
        contenders = make_contenders((OPTIONS.keep or pathlib.Path(temporary)).resolve())
        return 0 if print_table(measure(programs, contenders), contenders) else 1


if __name__ == "__main__":
    raise SystemExit(main())
