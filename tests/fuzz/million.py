"""Runs fuzzers from the corpus in the tree for a million inputs each, and prints what each did; the last line is a count.

  python3 tests/fuzz/million.py [--runs=1000000] [--workers=1] [--record] [target...]

A target is `verifier`, or `run.fuzz` for the one of the preset `fuzz`, whose code is what users get: without sanitizers, with
the step loop of tail calls. Each of several workers begins with a seed of its own and does its share of a target's runs.
--record writes the rows of tests/fuzz/README.md; --list prints the targets and runs none. tests/fuzz/pack makes a folder of
all of it for another machine.
"""

import argparse
import concurrent.futures
import datetime
import pathlib
import re
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
README = ROOT / "tests/fuzz/README.md"


def all_targets():
    names = sorted(path.name.removesuffix("_fuzz.cpp") for path in (ROOT / "tests/fuzz").glob("*_fuzz.cpp"))
    return names + ["run.fuzz", "verifier.fuzz"]


def commit():
    packed = ROOT / "COMMIT"  # From tests/fuzz/pack.
    if packed.exists():
        return packed.read_text(encoding="utf-8").strip()
    made = subprocess.run(["git", "-C", ROOT, "rev-parse", "--short=10", "HEAD"], capture_output=True, text=True)
    return made.stdout.strip() or "unknown"


def run_worker(target, runs):
    """(inputs tried, what was found)."""
    name, _, preset = target.partition(".")
    program = ROOT / "build" / (preset or "asan") / "tests/fuzz" / f"{name}_fuzz"
    found = ROOT / "build/found"
    found.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as fresh:
        command = [program, f"-runs={runs}", "-timeout=60", "-rss_limit_mb=4096", "-print_final_stats=1", "-verbosity=1",
                   f"-artifact_prefix={found}/{name}-", fresh, ROOT / "tests/fuzz/corpus" / name]
        done = subprocess.run(command, capture_output=True, text=True, errors="replace")
    counted = re.search(r"stat::number_of_executed_units:\s*(\d+)", done.stderr)
    tried = int(counted[1]) if counted else 0
    if done.returncode == 0 and tried >= runs:
        return tried, "none"
    reason = re.search(r"^(?:SUMMARY: |==\d+== ?ERROR: ).*$", done.stderr, re.MULTILINE)
    print(done.stderr[-4000:])
    return tried, reason[0] if reason else f"ended with {done.returncode}"


def run(target, runs, workers):
    """(inputs tried, seconds, what was found first)."""
    begin = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        results = list(pool.map(lambda _: run_worker(target, -(-runs // workers)), range(workers)))
    findings = [found for _, found in results if found != "none"]
    return sum(tried for tried, _ in results), time.monotonic() - begin, (findings or ["none"])[0]


def record(target, row):
    """Puts the row in the place of the target's old one, or behind the last."""
    lines = README.read_text(encoding="utf-8").split("\n")
    head = lines.index("| target | date | commit | runs | findings |")
    end = head
    while lines[end].startswith("|"):
        end += 1
    rows = {line.split("|")[1].strip(): line for line in lines[head + 2:end]}
    rows[target] = row
    README.write_text("\n".join(lines[:head + 2] + [rows[name] for name in sorted(rows)] + lines[end:]), encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=1000000)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--record", action="store_true")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("targets", nargs="*")
    options = parser.parse_args()
    if options.list:
        print("\n".join(all_targets()))
        return 0
    at_once = f" of {options.workers} workers" if options.workers > 1 else ""
    failed, targets = 0, options.targets or all_targets()
    for target in targets:
        tried, seconds, found = run(target, options.runs, options.workers)
        failed += found != "none"
        today = datetime.datetime.now(datetime.timezone.utc).date()
        row = f"| {target} | {today} | {commit()} | {tried:,} in {seconds:.0f} s{at_once} | {found} |"
        print(row, flush=True)
        if options.record:
            record(target, row)
    print(f"{len(targets) - failed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
