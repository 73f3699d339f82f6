"""through_pipe.py PIPE program...: runs it while standard input is written into PIPE, once; exits as it does."""
import subprocess
import sys
import threading


def write():
    with open(sys.argv[1], "wb") as pipe:
        pipe.write(sys.stdin.buffer.read())


threading.Thread(target=write, daemon=True).start()
sys.exit(subprocess.run(sys.argv[2:], timeout=30, check=False).returncode)
