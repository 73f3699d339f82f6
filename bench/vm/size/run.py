#!/usr/bin/env python3
"""Builds the smallest host with the preset `size`, checks that it works, and weighs it stripped against the limit."""

import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
BUILD = ROOT / "build/size"
LIMIT = 80 * 1024  # DESIGN.md section 10
ANSWER = "1000"  # ((0 ^ 1) ^ 2) ^ ... ^ 1000


def main() -> int:
    if not (BUILD / "build.ninja").exists():
        subprocess.run(["cmake", "--preset", "size"], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    targets = ["bench_vm_smallest", "baton-as"]
    subprocess.run(["cmake", "--build", BUILD, "--target", *targets], check=True, stdout=subprocess.DEVNULL)
    module = BUILD / "bench/native_import.bvm"
    program = ROOT / "bench/vm/native_import/baton.bvmasm"
    subprocess.run([BUILD / "bin/baton-as", program, "-o", module], check=True)
    binary, stripped = BUILD / "bench/bench_vm_smallest", BUILD / "bench/bench_vm_smallest.stripped"
    subprocess.run(["strip", "--strip-all", binary, "-o", stripped], check=True)
    answer = subprocess.run([stripped, module], capture_output=True, text=True, check=True).stdout.strip()
    if answer != ANSWER:
        sys.exit(f"The smallest host's answer ({answer}) differs from the reference ({ANSWER}).")
    size = stripped.stat().st_size
    print(f"smallest host with the VM and one native module: {size} bytes of {LIMIT}, {'within' if size <= LIMIT else 'OVER'} the limit")
    return 0 if size <= LIMIT else 1


if __name__ == "__main__":
    sys.exit(main())
