#!/usr/bin/env python3
"""Runs the HAL benches and prints one table: Baton's figures beside DESIGN.md's numbers and beside its peers.

For figures worth keeping on a machine that others use too, run it at real-time priority: chrt -f 20 bench/hal/run.py
"""

import argparse
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench/support"))

import google  # noqa: E402
import machine  # noqa: E402
from google import Row  # noqa: E402

PAIRS = 1000
DISPATCHES = 10000
EXECUTIONS = [(dispatches, slots) for dispatches in (1, 10, 100, 1000) for slots in (0, 1, 10)] + [(1000, 1000)]
CORES = machine.cores()
# 1, 2, 4, ... as elementwise.cpp counts them.
CORE_COUNTS = sorted({1 << bit for bit in range(CORES.bit_length()) if 1 << bit < CORES} | {CORES})

ROWS = [
    Row("record_pair/local", PAIRS, 60),
    Row("record_pair/local_unchecked", PAIRS, why="no user gets it: what of record_pair/local is checks"),
    Row("record_pair/null", PAIRS, 60),
    Row("record_execute_wait", reach_ns=300),
    *(Row(f"execute/{dispatches}/{slots}", reach_ns=120 + 15 * dispatches) for dispatches, slots in EXECUTIONS),
    Row("c_calls/1000", why="not ours: what execute/1000/0 does, by a loop in C"),
    Row("execute_10000/empty_off", DISPATCHES, why="execute/1000/0 has the limit"),
    Row("execute_10000/empty_traced", DISPATCHES, peer="execute_10000/empty_off", peer_factor=None,
        why="kernels that do nothing are no work to trace: work_traced has the limit"),
    Row("execute_10000/work_off", DISPATCHES),
    Row("execute_10000/work_traced", DISPATCHES, peer="execute_10000/work_off", peer_factor=1.05),
    Row("allocate_free/owner/4096", reach_ns=300),
    Row("allocate_free/owner/1048576", reach_ns=300),
    Row("allocate_free/cleared/4096", why="the memory has no owner, and clearing all of it is what takes time"),
    Row("allocate_free/cleared/1048576", why="the same"),
    Row("round_trip/warm/1", reach_ns=3000, counter="median_ns"),
    Row("round_trip/warm/64", reach_ns=3000, counter="median_ns"),
    Row("round_trip/parked/1", reach_ns=12000, counter="median_ns"),
    Row("round_trip/parked/64", reach_ns=12000, counter="median_ns"),
    Row("round_trip/warm_handed_over/1", reach_ns=3000, counter="median_ns"),
    Row("round_trip/warm_handed_over/64", reach_ns=3000, counter="median_ns"),
    Row("round_trip/parked_handed_over/1", reach_ns=12000, counter="median_ns"),
    Row("round_trip/parked_handed_over/64", reach_ns=12000, counter="median_ns"),
    Row("futex_round_trip", counter="median_ns", why="not ours: what the machine asks for waking a thread and hearing of it"),
    Row("semaphore_round_trip/warm", counter="median_ns", peer="futex_round_trip", peer_factor=None,
        why="two threads of the host and no device; how many wakes there are is the machine's matter"),
    Row("semaphore_round_trip/parked", counter="median_ns", peer="futex_round_trip", peer_factor=None, why="the same"),
    Row("fork_join/pool/2", peer="fork_join/tbb/2"),
    Row("fork_join/pool/2", peer="fork_join/openmp/2"),
    Row("fork_join/tbb/2"),
    Row("fork_join/openmp/2"),
    Row("fork_join/pool/64", peer="fork_join/tbb/64"),
    Row("fork_join/pool/64", peer="fork_join/openmp/64"),
    Row("fork_join/tbb/64"),
    Row("fork_join/openmp/64"),
    Row("fan_out/pool", peer="fan_out/tbb", counter="median_ns"),
    Row("fan_out/pool", peer="fan_out/openmp", counter="median_ns"),
    Row("fan_out/tbb", counter="median_ns"),
    Row("fan_out/openmp", counter="median_ns"),
    Row("elementwise/local_sync/0", why="the work on one thread, to divide the others by"),
    *(Row(f"elementwise/local_task/{count}", peer=f"elementwise/openmp/{count}", peer_factor=1.1) for count in CORE_COUNTS),
    *(Row(f"elementwise/openmp/{count}") for count in CORE_COUNTS),
]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release", help="build folder of the benches")
    parser.add_argument("--only", default="", metavar="REGEX", help="rows whose names match")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    for line in machine.describe(options.build):
        print(line)
    print("\nNanoseconds, medians over rounds; round trips show the median of single ones. A row's name says how many dispatches and\n"
          "changed slots, tiles, bytes or workers. elementwise/local_task/N has N + 1 threads, N workers and the one that waits,\n"
          "which helps; elementwise/openmp/N has N.\n")
    google.show(ROWS, google.run(options.build / "bench/bench_hal", options.only, options.rounds), options.only)
    return 0


if __name__ == "__main__":
    sys.exit(main())
