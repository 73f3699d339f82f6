"""The contenders that are programs of ours: each is started once for a question, checks its answer, prints its figure."""

import json
import pathlib
import re
import subprocess
import sys

from questions import GENERATED, Question

HERE = pathlib.Path(__file__).parent
ANSWERS_NO = {  # phases that a contender has nothing to show for
    "native": {"load", "link", "state", "drop", "idle"},
    "lua": {"link"},
    "luajit": {"link"},
    "baton": set(),
}
SUFFIX = {"native": "c", "lua": "lua", "luajit": "lua", "baton": "bvmasm"}


def program_folder(question: Question, build: pathlib.Path) -> pathlib.Path:
    return (build / "bench" if question.programs.startswith(GENERATED) else HERE) / question.programs


class Contender:
    def __init__(self, name: str, build: pathlib.Path):
        self.name = name
        self.build = build
        self.binary = build / "bench" / f"bench_vm_{name}"
        self.missing = "" if self.binary.exists() else f"not built ({self.binary.name})"

    def answers(self, question: Question) -> bool:
        return question.phase not in ANSWERS_NO[self.name] and self._program(question).exists()

    def measure(self, question: Question) -> float:
        """Nanoseconds per unit, or bytes."""
        return json.loads(_run(self._command(question)).stdout)["value"]

    def instructions(self, question: Question) -> float:
        """Instructions per unit as callgrind counts them: the same on every run, on a busy machine too."""
        repeats = max(1, 1000 // question.units)
        callgrind = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", "--collect-atstart=no",
                     "--toggle-collect=measured_region"]
        output = _run(callgrind + self._command(question) + [f"--repeats={repeats}"]).stderr
        collected = re.search(r"Collected : (\d+)", output)
        return int(collected.group(1)) / (repeats * question.units)

    def _program(self, question: Question) -> pathlib.Path:
        stem = "lua" if self.name == "luajit" else self.name
        return program_folder(question, self.build) / f"{stem}.{SUFFIX[self.name]}"

    def _command(self, question: Question) -> list[str]:
        command = [str(self.binary), f"--phase={question.phase}", f"--question={question.name}",
                   f"--program={self._program(question)}", f"--units={question.units}"]
        if question.arguments:
            command.append(f"--arguments={','.join(map(str, question.arguments))}")
        if question.answer is not None and question.phase == "call":
            command.append(f"--answer={question.answer!r}")
        return command


def _run(command: list[str]) -> subprocess.CompletedProcess:
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        sys.exit(f"{' '.join(command)}\n{result.stderr.strip()}")
    return result
