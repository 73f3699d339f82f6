"""Measures a build, the same build again, and a slowed one, under a clock that only kernels make go (native/clock.c):
compare.py TOOL CLOCK BUILD SLOWED JSON. Prints what the first and the third say, after checking that nothing changed in the
second."""
import os
import subprocess
import sys

tool, clock, build, slowed, before = sys.argv[1:]
FLAGS = ["--device=local-sync", f"--executable_plugin={clock}", "--benchmark_filter=^(work/|other/)", "--benchmark_min_time=0.005"]


def measure(program, *flags, code=0):
    run = subprocess.run([tool, program, *FLAGS, *flags], env={**os.environ, "LD_PRELOAD": clock}, stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT, text=True, timeout=60, check=False)
    if run.returncode != code:
        sys.exit(f"exit code {run.returncode}:\n{run.stdout}")
    return run.stdout


first = measure(build, f"--benchmark_out={before}")
again = measure(build, f"--compare={before}")
if not again.endswith("\nNothing changed.\n"):
    sys.exit(f"again:\n{again}")
refused = measure(slowed, f"--compare={before}", "--fail_on=slower", code=1)
if not refused.endswith("ABORTED; slower than before: 'work'\n"):
    sys.exit(f"refused:\n{refused}")
measure(build, f"--compare={before}", "--fail_on=unclear")
print(first + measure(slowed, f"--compare={before}"))
