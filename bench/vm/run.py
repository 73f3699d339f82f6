#!/usr/bin/env python3
"""Runs the VM benches and prints one table: every contender's figure for every question, in the same minute.

Each round asks every contender every question once; the table shows medians over the rounds. A machine that others use slows
all contenders of a round alike, so the ratios are worth more than the times.
"""

import argparse
import json
import pathlib
import re
import statistics
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench/support"))

import machine  # noqa: E402
import table  # noqa: E402
from contender import Contender  # noqa: E402
from generate import write_programs  # noqa: E402
from contender_iree import Iree  # noqa: E402
from questions import GENERATED, QUESTIONS, VERIFY_SIZES, Question  # noqa: E402

TITLES = {"native": "C", "lua": "Lua 5.4", "luajit": "LuaJIT", "iree": "IREE", "baton": "Baton"}
Figures = dict[str, dict[str, float]]  # question, contender


def main() -> int:
    options = parse_options()
    everyone = [Contender(name, options.build) for name in ("native", "lua", "luajit")]
    everyone += [Iree(options.iree, options.build), Contender("baton", options.build)]
    for line in machine.describe(options.build):
        print(line)
    for contender in everyone:
        if contender.missing:
            print(f"{TITLES[contender.name]}: {contender.missing}")
    contenders = [contender for contender in everyone if not contender.missing]
    questions = [question for question in QUESTIONS if re.search(options.only, question.name)]

    for size in VERIFY_SIZES:
        write_programs(options.build / "bench" / GENERATED / str(size), size)

    if options.instructions:
        show_instructions(questions, [one for one in contenders if isinstance(one, Contender)])
        return 0
    figures = measure(questions, contenders, options.rounds)
    show_figures(questions, contenders, figures)
    if options.json:
        options.json.write_text(json.dumps(figures, indent=1) + "\n")
    return 0


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release", help="build folder of the contenders")
    parser.add_argument("--iree", type=pathlib.Path, default=ROOT / "build/iree", help="virtual environment with IREE's packages")
    parser.add_argument("--only", default="", metavar="REGEX", help="questions whose names match")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--instructions", action="store_true", help="count instructions with callgrind instead of timing")
    parser.add_argument("--json", type=pathlib.Path, help="also write the medians here")
    return parser.parse_args()


def measure(questions: list[Question], contenders: list, rounds: int) -> Figures:
    samples: dict[tuple[str, str], list[float]] = {}
    for _ in range(rounds):
        for question in questions:
            for contender in contenders:
                if contender.answers(question):
                    samples.setdefault((question.name, contender.name), []).append(contender.measure(question))
    figures: Figures = {question.name: {} for question in questions}
    for (question, contender), values in samples.items():
        figures[question][contender] = statistics.median(values)
    return figures


def show_figures(questions: list[Question], contenders: list, figures: Figures) -> None:
    names = [contender.name for contender in contenders]
    peers = [name for name in names if name != "baton"] if "baton" in names else []
    header = ["question", "unit", *(TITLES[name] for name in names), *(f"x {TITLES[peer]}" for peer in peers),
              "reach", "", "IREE (DESIGN.md)"]
    rows = []
    for question in questions:
        mine = figures[question.name]
        if not mine:
            continue
        ratios = [mine["baton"] / mine[peer] if peer in mine and "baton" in mine else None for peer in peers]
        verdict = question.reach.holds(mine) if question.reach else None
        rows.append([question.name, question.unit, *(table.figure(mine.get(name)) for name in names),
                     *(table.figure(ratio) for ratio in ratios), str(question.reach or "-"),
                     {True: "yes", False: "NO", None: "-"}[verdict], table.figure(question.iree_in_design)])
    print("\nNanoseconds per unit, medians over rounds; C is at -O2, LuaJIT is its interpreter, \"x C\" is Baton's figure in C's\n")
    print(table.render(header, rows))
    print("\nIREE's entry and checked_call include its benchmark tool's lists of arguments and results; its native_import calls a"
          "\nfunction without arguments. The last column is another machine's and stands in no ratio. Lua loads without"
          "\nverifying, and its blob is an array.")


def show_instructions(questions: list[Question], contenders: list[Contender]) -> None:
    rows = []
    for question in questions:
        if question.phase == "idle":
            continue
        counts = [one.instructions(question) if one.answers(question) else None for one in contenders]
        if any(count is not None for count in counts):
            rows.append([question.name, question.unit, *map(table.figure, counts)])
    print("\nInstructions per unit, callgrind\n")
    print(table.render(["question", "unit", *(TITLES[one.name] for one in contenders)], rows))


if __name__ == "__main__":
    sys.exit(main())
