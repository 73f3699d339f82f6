#!/usr/bin/env python3
"""Fails when Baton needs more instructions for a question than bench/budgets.txt grants. ctest runs it as bench.budgets.

Times on a shared machine differ from run to run; instructions differ only with the code, so a step that grew is seen at once.
Counts are those of one compiler: for another one, or without valgrind, the check says so and is skipped.
"""

import argparse
import pathlib
import platform
import shutil
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench/support"))

import machine  # noqa: E402
from contender import Contender  # noqa: E402
from generate import write_programs  # noqa: E402
from questions import GENERATED, QUESTIONS, VERIFY_SIZES  # noqa: E402

BUDGETS = ROOT / "bench/budgets.txt"
SKIPPED = 77  # ctest's SKIP_RETURN_CODE


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release", help="build folder of the contenders")
    build = parser.parse_args().build
    lines = [line.split(maxsplit=1) for line in BUDGETS.read_text().splitlines() if line and not line.startswith("#")]
    taken_with = dict(line for line in lines if line[0] in ("compiler", "build", "processor"))
    budgets = {name: float(budget) for name, budget in lines if name not in taken_with}
    baton = Contender("baton", build)
    if reason := reason_to_skip(taken_with, baton):
        print(f"skipped: {reason}")
        return SKIPPED
    return check(budgets, baton)


def reason_to_skip(taken_with: dict[str, str], baton: Contender) -> str:
    here = {**machine.facts(baton.build), "processor": platform.machine()}
    for what, wanted in taken_with.items():
        if wanted not in here[what]:
            return f"the budgets are those of {what} '{wanted}', and this is '{here[what]}'"
    if not shutil.which("valgrind"):
        return "valgrind is not installed (./dev setup)"
    return baton.missing


def check(budgets: dict[str, float], baton: Contender) -> int:
    for size in VERIFY_SIZES:
        write_programs(baton.build / "bench" / GENERATED / str(size), size)
    questions = {question.name: question for question in QUESTIONS}
    over = 0
    for name, budget in budgets.items():
        count = baton.instructions(questions[name])
        over += count > budget
        print(f"{name:15} {count:8.1f} of {budget:6.0f} an {questions[name].unit}{'  OVER' if count > budget else ''}")
    print(f"{over} of {len(budgets)} questions over their budget")
    return 1 if over else 0


if __name__ == "__main__":
    sys.exit(main())
