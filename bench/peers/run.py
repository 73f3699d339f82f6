#!/usr/bin/env python3
"""Compiles the same files with Baton and with IREE and runs them: time to compile, size of the module, time of a call.

Both times are processor time, because the compilers use threads and the machine may be shared; a call is one on
device local-sync, one thread. Answers are checked before anything is timed. IREE compiles as it does when nobody says how, and at O2;
ratios are to the better of both. The VM's programs follow in the table of bench/vm.
"""

import argparse
import json
import pathlib
import re
import resource
import shutil
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(ROOT / "bench/support"))

import machine  # noqa: E402
import table  # noqa: E402
from programs import PROGRAMS, Program  # noqa: E402

NS = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}
DEVICE = ["--device=local-sync"]


class Failed(Exception):
    """What a tool said when it failed."""


class Contender:
    """A compiler and its run tools; `compile_flags` make both compile for this machine."""

    def __init__(self, title: str, tools: dict[str, pathlib.Path], compile_flags: list[str], ending: str, work: pathlib.Path):
        self.title, self.tools, self.compile_flags, self.ending, self.work = title, tools, compile_flags, ending, work
        # Google Benchmark writes the time with its unit since 1.8; IREE's tool has a newer one than Debian.
        self.min_time = "0.2s" if title.startswith("IREE") else "0.2"

    def module(self, program: Program) -> pathlib.Path:
        return self.work / f"{program.name}.{self.ending}"

    def compile(self, program: Program) -> float:
        """Processor seconds."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        source = HERE / "programs" / f"{program.name}.mlir"
        self._run("compile", [str(source), *self.compile_flags, "-o", str(self.module(program))])
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    def check(self, program: Program) -> None:
        output = self._run("run", self._call(program))
        lines = [re.sub(r"^result\[0\]: (?=\w+=)", "", line) for line in output.splitlines()]
        if not any(line.startswith(program.starts) for line in lines):
            raise Failed(f"{self.title} answers {output.strip()[:200]!r}, not {program.starts!r}")

    def call(self, program: Program) -> float:
        """Nanoseconds."""
        sampling = ["--benchmark_format=json", f"--benchmark_min_time={self.min_time}"]
        output = json.loads(self._run("benchmark", [*self._call(program), *sampling]))
        # Ours has rows for the phases before, and repeats; the rows of the function begin with its name, IREE's with BM_.
        times = [row["cpu_time"] * NS[row["time_unit"]] for row in output["benchmarks"]
                 if row["run_type"] == "iteration" and re.match(r"(BM_)?main(/|$)", row["name"])]
        return statistics.median(times)

    def _call(self, program: Program) -> list[str]:
        inputs = [f"--input={text}" for text in program.inputs]
        return [f"--module={self.module(program)}", "--function=main", *DEVICE, *inputs]

    def _run(self, tool: str, arguments: list[str]) -> str:
        command = [str(self.tools[tool]), *arguments]
        result = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
        if result.returncode != 0:
            raise Failed(f"{' '.join(command)}\n{result.stderr.strip()[:500]}")
        return result.stdout


def find_iree(environment: pathlib.Path, work: pathlib.Path) -> tuple[Contender, Contender] | str:
    """As it is and at O2, from the environment, else from PATH; else why not."""
    tools = {}
    for tool, name in (("compile", "iree-compile"), ("run", "iree-run-module"), ("benchmark", "iree-benchmark-module")):
        inside = environment / "bin" / name
        found = str(inside) if inside.exists() else shutil.which(name)
        if not found:
            return f"skipped: {name} is neither in {environment}/bin nor in PATH (pip install iree-base-compiler iree-base-runtime)"
        tools[tool] = pathlib.Path(found)
    flags = ["--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=llvm-cpu", "--iree-llvmcpu-target-cpu=host"]
    return (Contender("IREE", tools, flags, "vmfb", work),
            Contender("IREE O2", tools, [*flags, "--iree-opt-level=O2"], "O2.vmfb", work))


def find_baton(build: pathlib.Path, work: pathlib.Path) -> Contender | str:
    tools = {tool: build / "bin" / f"baton-{name}"
             for tool, name in (("compile", "compile"), ("run", "run-module"), ("benchmark", "benchmark-module"))}
    for path in tools.values():
        if not path.exists():
            return f"skipped: {path} is not built"
    return Contender("Baton", tools, [], "bvm", work)


def main() -> int:
    options = parse_options()
    work = options.build / "bench/peers"
    work.mkdir(parents=True, exist_ok=True)
    baton, iree = find_baton(options.build, work), find_iree(options.iree, work)
    for line in machine.describe(options.build):
        print(line)
    for contender in (baton, iree):
        if isinstance(contender, str):
            print(contender)
            return 0
    print()
    print(compare([baton, *iree], options))
    print()
    if options.only or options.no_vm:
        return 0
    command = [sys.executable, str(ROOT / "bench/vm/run.py"), f"--build={options.build}", f"--iree={options.iree}",
               f"--rounds={options.rounds}"]
    return subprocess.run(command, check=False).returncode


def compare(contenders: list[Contender], options: argparse.Namespace) -> str:
    rows = []
    for program in PROGRAMS:
        if not re.search(options.only, program.name):
            continue
        figures = {}
        for contender in contenders:
            try:
                figures[contender.title] = measure(contender, program, options.rounds)
            except Failed as failed:
                print(f"{program.name}: {failed}", file=sys.stderr)
        rows.append(row_of(program, [figures.get(contender.title) for contender in contenders]))
    header = ["program"]
    for unit in ("compile ms", "bytes", "call us"):
        header += [unit, *(contender.title for contender in contenders[1:]), "x"]
    return table.render(header, rows)


def measure(contender: Contender, program: Program, rounds: int) -> tuple[float, float, float]:
    """Milliseconds to compile, bytes, microseconds of a call."""
    compiling = [contender.compile(program) * 1e3 for _ in range(min(rounds, 3))]
    contender.check(program)
    calls = [contender.call(program) / 1e3 for _ in range(rounds)]
    return statistics.median(compiling), float(contender.module(program).stat().st_size), statistics.median(calls)


def row_of(program: Program, measured: list[tuple | None]) -> list[str]:
    """Each figure of all contenders, and the first one's beside the least of the others."""
    row = [program.name]
    for i in range(3):
        mine, *theirs = [figures[i] if figures else None for figures in measured]
        best = min((one for one in theirs if one), default=None)
        row += [*map(table.figure, (mine, *theirs)), table.figure(mine / best if mine and best else None)]
    return row


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release", help="build folder of Baton's tools")
    parser.add_argument("--iree", type=pathlib.Path, default=ROOT / "build/iree", help="virtual environment with IREE's packages")
    parser.add_argument("--only", default="", metavar="REGEX", help="programs whose names match, and no VM table")
    parser.add_argument("--no-vm", action="store_true", help="leave the table of bench/vm out")
    parser.add_argument("--rounds", type=int, default=3)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
