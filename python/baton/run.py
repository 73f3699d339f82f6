"""python -m baton.run: baton-run-module."""
import sys

from baton._tools import main

if __name__ == "__main__":
    sys.exit(main("run", sys.argv[1:]))
