"""limited.py program...: runs it where no file may grow beyond 100 bytes; exits as it does, and passes on what it says."""
import resource
import subprocess
import sys

ran = subprocess.run(sys.argv[1:], capture_output=True, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100)))
sys.stderr.buffer.write(ran.stdout + ran.stderr)
sys.exit(ran.returncode)
