"""Runs a script or module of this folder by the Python of the tree: run.py PYTHON arguments... Where that is missing, prints so and
exits with 77, by which ctest knows a skipped test."""
import os
import subprocess
import sys

interpreter = sys.argv[1]
PACKAGES = "jax, ml_dtypes, numpy, pytest"
if not os.path.exists(interpreter):
    print(f"skipped: there is no {interpreter}; ./dev setup makes it from python/requirements/ci.txt")
    sys.exit(77)
probe = subprocess.run([interpreter, "-c", "import " + PACKAGES], capture_output=True, text=True)
if probe.returncode:
    print(f"skipped: {interpreter} lacks one of {PACKAGES}: {probe.stderr.strip().splitlines()[-1]}")
    sys.exit(77)
os.chdir(os.path.dirname(os.path.abspath(__file__)))
sys.exit(subprocess.run([interpreter, *sys.argv[2:]]).returncode)
