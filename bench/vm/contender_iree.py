"""IREE's VM as a contender, from the packages iree-base-compiler and iree-base-runtime; without them its column is empty.

Programs are hand-written in its assembly and do the work of ours, instruction for instruction. Its own benchmark tool times
them: a call through that tool costs about 0.3 us, which is in the figures of `entry` and `checked_call` and is lost in the
others, whose calls last 100 us and more.
"""

import json
import pathlib
import re
import subprocess
import sys

from contender import program_folder
from questions import Question

HERE = pathlib.Path(__file__).parent
INSTALL = "pip install iree-base-compiler iree-base-runtime"
NS = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}
# As bench/support/contender.cpp samples: the median of five, 1.5 ms each.
SAMPLING = ["--benchmark_format=json", "--benchmark_min_time=0.0015s", "--benchmark_repetitions=5",
            "--benchmark_report_aggregates_only=true"]
IMPORT_ANSWER_PER_UNIT = 1  # native_import calls a function that returns the number of devices


class Iree:
    name = "iree"

    def __init__(self, environment: pathlib.Path, build: pathlib.Path):
        """`environment` is the virtual environment that holds the packages; assembled programs are kept under `build`."""
        self.tools = environment / "bin"
        self.build = build
        self.work = build / "bench/iree"
        self.missing = "" if (self.tools / "iree-benchmark-module").exists() else f"not installed ({INSTALL})"
        self.checked: set[str] = set()

    def answers(self, question: Question) -> bool:
        """Of the phases only `load`, and only of modules that are large enough to hide the Python that loads them."""
        loads = question.phase == "load" and question.units >= 10_000
        return (question.phase == "call" or loads) and self._source(question) is not None

    def measure(self, question: Question) -> float:
        if question.phase == "load":
            self._compile(question)
            loader = ["python3", str(HERE / "iree_load.py"), str(self._module(question))]
            return float(self._run(loader)) / question.units
        self._check_answer(question)
        output = json.loads(self._run(["iree-benchmark-module", *SAMPLING, *self._flags(question)]))
        median = next(run for run in output["benchmarks"] if run.get("aggregate_name") == "median")
        return median["cpu_time"] * NS[median["time_unit"]] / question.units

    def _check_answer(self, question: Question) -> None:
        if question.name in self.checked:
            return
        self.checked.add(question.name)
        self._compile(question)
        output = self._run(["iree-run-module"] + self._flags(question))
        printed = re.search(r"result\[0\]: \w+=(\S+)", output)
        expected = question.units * IMPORT_ANSWER_PER_UNIT if question.name == "native_import" else question.answer
        # The tool prints a float with six digits.
        if expected is not None and f"{float(printed.group(1)):g}" != f"{float(expected):g}":
            sys.exit(f"IREE's answer to {question.name} ({printed.group(1)}) differs from the reference ({expected}).")

    def _source(self, question: Question) -> pathlib.Path | None:
        folder = program_folder(question, self.build)
        return next((path for path in (folder / "iree.vmasm", folder / "iree.mlir") if path.exists()), None)

    def _module(self, question: Question) -> pathlib.Path:
        return self.work / f"{question.name}.vmfb"

    def _compile(self, question: Question) -> None:
        source, target = self._source(question), self._module(question)
        if target.exists() and target.stat().st_mtime > source.stat().st_mtime:
            return
        self.work.mkdir(parents=True, exist_ok=True)
        if source.suffix == ".vmasm":
            self._run(["iree-as-module", f"--output={target}", str(source)])
        else:
            self._run(["iree-compile", "--compile-mode=vm", str(source), "-o", str(target)])

    def _flags(self, question: Question) -> list[str]:
        device = ["--device=local-sync"] if question.name == "native_import" else []
        inputs = [f"--input={argument}" for argument in question.arguments]
        return [f"--module={self._module(question)}", "--function=run", *device, *inputs]

    def _run(self, command: list[str]) -> str:
        command = [str(self.tools / command[0]), *command[1:]]
        result = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
        if result.returncode != 0:
            sys.exit(f"{' '.join(command)}\n{result.stderr.strip()}")
        return result.stdout
