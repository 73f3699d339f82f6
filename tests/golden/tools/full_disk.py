"""Runs a program whose standard output is a full disk; exits as it does."""
import subprocess
import sys

with open("/dev/full", "wb") as disk:
    sys.exit(subprocess.run(sys.argv[1:], stdout=disk).returncode)
