#!/usr/bin/env python3
"""Runs bench_compiler_kernels from the release build; options go through (--quick)."""
import os
import pathlib
import subprocess
import sys

program = pathlib.Path(__file__).resolve().parents[2] / "build/release/bench/bench_compiler_kernels"
if not program.is_file():
    print("bench_compiler_kernels is not built: the compiler's libraries are not here")
    sys.exit(0)
# OpenBLAS takes processors that are younger than it for older ones; it is to use what this one has.
environment = dict(os.environ)
if " avx512vl " in pathlib.Path("/proc/cpuinfo").read_text():
    environment.setdefault("OPENBLAS_CORETYPE", "SKYLAKEX")
sys.exit(subprocess.run([program, *sys.argv[1:]], env=environment).returncode)
