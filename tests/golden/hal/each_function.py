"""Calls every export of a program in a process of its own and prints what it failed with:
each_function.py program.bvmasm baton-run-module program.bvm flags..."""
import re
import subprocess
import sys

source, *command = sys.argv[1:]
for name in re.findall(r"^export func @(\w+)", open(source, encoding="utf-8").read(), re.MULTILINE):
    done = subprocess.run([*command, f"--function={name}"], capture_output=True, text=True, timeout=60)
    message = done.stderr.replace("baton-run-module: ", "").split("\n  from import")[0].strip().replace("\n", " |")
    print(f"{name}: exit {done.returncode}; {message}")
