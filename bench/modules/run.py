#!/usr/bin/env python3
"""Runs the benches of programs over the module "hal" and prints one table beside DESIGN.md's numbers."""

import argparse
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench/support"))

import google  # noqa: E402
import machine  # noqa: E402
from google import Row  # noqa: E402

COUNT = 1000
ROWS = [
    Row("record_pair/null", COUNT, 60),
    Row("record_pair/local", COUNT, why="bench/hal has the limit of the recording; what calls add is the row above"),
    Row("record_execute_wait", reach_ns=300),
    Row("execute_again", COUNT, reach_ns=135),
    Row("record_pair/null/threads", COUNT, 60),
    Row("record_execute_wait/threads", reach_ns=300),
]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release", help="build folder of the benches")
    parser.add_argument("--only", default="", metavar="REGEX", help="rows whose names match")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    for line in machine.describe(options.build):
        print(line)
    print("\nNanoseconds, medians over rounds.\n")
    google.show(ROWS, google.run(options.build / "bench/bench_modules", options.only, options.rounds), options.only)
    return 0


if __name__ == "__main__":
    sys.exit(main())
