#!/usr/bin/env python3
"""Fails when Baton needs more instructions for a piece of work than bench/budgets.txt grants. ctest runs it as bench.budgets.

Times on a shared machine differ from run to run; instructions differ only with the code, so a step that grew is seen at once.
Counts are those of one compiler: for another one, or without valgrind, the check says so and is skipped.

A name without a dot is a question of bench/vm; `hal.record_pair` is the row `record_pair` of build/bench/bench_hal_counted.
"""

import argparse
import pathlib
import platform
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "bench/support"), str(ROOT / "bench/vm")]

import machine  # noqa: E402
from contender import Contender  # noqa: E402
from generate import write_programs  # noqa: E402
from questions import GENERATED, QUESTIONS, VERIFY_SIZES  # noqa: E402

BUDGETS = ROOT / "bench/budgets.txt"
SKIPPED = 77  # ctest's SKIP_RETURN_CODE
REPEATS = 1000  # of a counted row


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release", help="build folder of the benches")
    parser.add_argument("--only", default="", metavar="REGEX", help="rows whose names match")
    build, only = vars(parser.parse_args()).values()
    lines = [line.split(maxsplit=1) for line in BUDGETS.read_text().splitlines() if line and not line.startswith("#")]
    taken_with = dict(line for line in lines if line[0] in ("compiler", "build", "processor"))
    budgets = {name: float(budget) for name, budget in lines if name not in taken_with and re.search(only, name)}
    if reason := reason_to_skip(taken_with, build):
        print(f"skipped: {reason}")
        return SKIPPED
    return check(budgets, build)


def reason_to_skip(taken_with: dict[str, str], build: pathlib.Path) -> str:
    here = {**machine.facts(build), "processor": platform.machine()}
    for what, wanted in taken_with.items():
        if wanted not in here[what]:
            return f"the budgets are those of {what} '{wanted}', and this is '{here[what]}'"
    if not shutil.which("valgrind"):
        return "valgrind is not installed (./dev setup)"
    return Contender("baton", build).missing


def check(budgets: dict[str, float], build: pathlib.Path) -> int:
    for size in VERIFY_SIZES:
        write_programs(build / "bench" / GENERATED / str(size), size)
    baton = Contender("baton", build)
    questions = {question.name: question for question in QUESTIONS}
    over = 0
    for name, budget in budgets.items():
        if "." in name and not program(name, build).exists():
            print(f"{name:25} is not built here")
            continue
        count = counted(name, build) if "." in name else baton.instructions(questions[name])
        over += count > budget
        unit = f" an {questions[name].unit}" if name in questions else ""
        print(f"{name:25} {count:8.1f} of {budget:6.0f}{unit}{'  OVER' if count > budget else ''}")
    print(f"{over} of {len(budgets)} over their budget")
    return 1 if over else 0


def program(name: str, build: pathlib.Path) -> pathlib.Path:
    return build / "bench" / f"bench_{name.split('.')[0]}_counted"


def counted(name: str, build: pathlib.Path) -> float:
    """Instructions for one repeat of a row of a program over bench/support/counted.hpp."""
    row = name.split(".")[1]
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", "--collect-atstart=no",
               "--toggle-collect=measured_region", str(program(name, build)), row, str(REPEATS)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        sys.exit(f"{' '.join(command)}\n{result.stderr.strip()}")
    return int(re.search(r"Collected : (\d+)", result.stderr).group(1)) / REPEATS


if __name__ == "__main__":
    sys.exit(main())
