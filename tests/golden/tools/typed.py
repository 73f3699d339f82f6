"""Runs a tool as somebody at a terminal does: typed.py INPUT command...; INPUT is typed, then Ctrl-D. Prints what the terminal
shows, and the exit code."""
import os
import pty
import sys

child, terminal = pty.fork()
if child == 0:
    os.execvp(sys.argv[2], sys.argv[2:])
os.write(terminal, sys.argv[1].encode() + b"\n\x04")
shown = b""
while True:
    try:
        more = os.read(terminal, 4096)
    except OSError:  # Linux says so when the tool has ended.
        break
    if not more:
        break
    shown += more
code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
print(shown.decode(errors="replace").replace("\r\n", "\n"))
print(f"exit code {code}")
