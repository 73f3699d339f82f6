"""python -m baton VERB ...: the tools."""
import sys

from baton._tools import VERBS, main

if len(sys.argv) < 2 or sys.argv[1] not in VERBS:
    print(f"usage: python -m baton VERB ...\nVERB: {', '.join(f'{verb} ({tool})' for verb, tool in VERBS.items())}",
          file=sys.stderr)
    sys.exit(0 if sys.argv[1:] in (["--help"], ["-h"]) else 1)
sys.exit(main(sys.argv[1], sys.argv[2:]))
