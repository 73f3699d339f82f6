"""The table of imports in modules/hal_module/README.md is what modules/hal_module/imports.inc says."""
import subprocess
import sys

from house import SOURCE

sys.exit(subprocess.run([sys.executable, SOURCE / "tools/docs/imports.py", "--check"]).returncode)
