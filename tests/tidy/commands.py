"""Every command has its file in every driver and in the conformance suite, or a reason why not; hal/COMMANDS.md is fresh."""
import subprocess
import sys

from house import SOURCE

sys.exit(subprocess.run([sys.executable, SOURCE / "tools/docs/matrix.py", "--check"]).returncode)
