"""terminal.py program...: runs it at a terminal and prints what that shows, colours as <red>, <green> and <>; exits as it does."""
import os
import pty
import subprocess
import sys

ours, theirs = pty.openpty()
program = subprocess.Popen(sys.argv[1:], stdout=theirs, stderr=theirs)
os.close(theirs)
shown = b""
try:
    while part := os.read(ours, 4096):
        shown += part
except OSError:  # Nobody has the terminal open any more.
    pass
for code, name in ((b"\033[31m", b"<red>"), (b"\033[32m", b"<green>"), (b"\033[m", b"<>"), (b"\r\n", b"\n")):
    shown = shown.replace(code, name)
sys.stdout.buffer.write(shown)
sys.exit(program.wait())
