#!/usr/bin/env python3
"""What baton-benchmark-module adds to the steady call of an empty program, beside a loop written by hand."""

import argparse
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench/support"))

import google  # noqa: E402
import machine  # noqa: E402
from google import Row  # noqa: E402

ROWS = [Row("by_hand"), Row("empty", peer="by_hand", peer_factor=1.02)]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release", help="build folder of the benches")
    parser.add_argument("--rounds", type=int, default=15)
    options = parser.parse_args()
    for line in machine.describe(options.build):
        print(line)
    print("\nNanoseconds, medians over rounds.\n")
    figures = google.run(options.build / "bench/bench_benchmark_module", "^(by_hand|empty)$", options.rounds)
    google.show(ROWS, figures)
    print(f"\nThe tool adds {100 * (figures.of('empty') / figures.of('by_hand') - 1):.1f} %.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
