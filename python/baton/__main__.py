"""python -m baton VERB ...: the tools."""
import sys

from baton._tools import VERBS, main

USAGE = f"usage: python -m baton VERB ...\nVERB: {', '.join(f'{verb} ({tool})' for verb, tool in VERBS.items())}"

if sys.argv[1:] in (["--help"], ["-h"]):
    print(USAGE)
elif sys.argv[1:] == ["--version"]:
    from baton import __version__
    print(f"baton {__version__}")
elif len(sys.argv) < 2 or sys.argv[1] not in VERBS:
    print(USAGE, file=sys.stderr)
    sys.exit(1)
else:
    sys.exit(main(sys.argv[1], sys.argv[2:]))
