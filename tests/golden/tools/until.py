"""Measures until what is said holds: until.py TIMES PATTERN COMMAND... runs the command up to so often, and succeeds, printing
what it printed, once that matches. For what a busy machine may disturb now and then; what is never so still fails."""
import re
import subprocess
import sys

times, pattern, command = int(sys.argv[1]), sys.argv[2], sys.argv[3:]
for attempt in range(times):
    run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60, check=False)
    if run.returncode == 0 and re.search(pattern, run.stdout, re.MULTILINE):
        print(run.stdout)
        sys.exit(0)
print(f"after {times} runs (exit code {run.returncode}):\n{run.stdout}")
sys.exit(1)
