#!/usr/bin/env python3
"""What a custom command costs to record, beside the program's own commands and beside C++: bench/modules/custom_command/run.py."""

import argparse
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "bench/support"))

import google  # noqa: E402
import machine  # noqa: E402
from google import Row  # noqa: E402

COMMANDS = 1000
ROWS = [
    Row("record_in_cpp/null", COMMANDS, why="what a program's commands cost without the program: bench/hal has the limit"),
    Row("record/program_null", COMMANDS),
    Row("record/custom_null", COMMANDS, peer="record/program_null"),
    Row("record_in_cpp/local", COMMANDS, why="the same"),
    Row("record/program_local", COMMANDS),
    Row("record/custom_local", COMMANDS, peer="record/program_local"),
    Row("record/nothing_local", COMMANDS, why="a command that records nothing is no use: what of the others is the call"),
    Row("record/host_local", COMMANDS, why="a program has no host call to be held to"),
]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release", help="build folder of the benches")
    parser.add_argument("--only", default="", metavar="REGEX", help="rows whose names match")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    for line in machine.describe(options.build):
        print(line)
    print("\nNanoseconds a command, medians over rounds: a dispatch and a barrier; a command that records nothing; a host call.\n")
    google.show(ROWS, google.run(options.build / "bench/bench_custom_command", options.only, options.rounds), options.only)
    return 0


if __name__ == "__main__":
    sys.exit(main())
