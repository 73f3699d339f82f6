"""Measures a build, the same build again, and a slowed one: compare.py TOOL BUILD SLOWED JSON. Succeeds when the second run says
that nothing changed and the third which function is slower and by how much. A busy machine may disturb any of the three, so
there are a few attempts; what is never so fails."""
import re
import subprocess
import sys

tool, build, slowed, before = sys.argv[1:]
FLAGS = ["--device=local-sync", "--benchmark_filter=^(machine|work/|other/)", "--benchmark_min_time=0.005"]


def measure(program, *flags):
    run = subprocess.run([tool, program, *FLAGS, *flags], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60,
                         check=False)
    if run.returncode != 0:
        sys.exit(f"exit code {run.returncode}:\n{run.stdout}")
    return run.stdout


for attempt in range(20):
    first = measure(build, f"--benchmark_out={before}")
    again = measure(build, f"--compare={before}")
    other = measure(slowed, f"--compare={before}")
    # Three times the rounds: 150 to 249 % slower, and nothing else is.
    if again.endswith("\nNothing changed.\n") and re.search(r"^'work' is (1[5-9]|2[0-4])\d\.\d % slower\.$", other, re.MULTILINE):
        print(first + other)
        sys.exit(0)
sys.exit(f"again:\n{again}\nslowed:\n{other}")
