"""Starts ranks as mpirun does, without it: run_ranks.py COUNT STORE command... Their standard output and error come out
together, and a rank waits 20 seconds for another unless BATON_RANK_TIMEOUT says otherwise; the exit code is the first one that isn't 0. STORE may be empty: then ranks find each other by their parent.
`@N` in front of an argument leaves it to rank N alone."""
import os
import subprocess
import sys

count, store, command = int(sys.argv[1]), sys.argv[2], sys.argv[3:]
started = []
for rank in range(count):
    environment = dict(os.environ, BATON_RANK=str(rank), BATON_RANKS=str(count), BATON_RANK_TIMEOUT=os.environ.get("BATON_RANK_TIMEOUT", "20"))
    if store:
        environment["BATON_STORE"] = store
    own = [a.partition(":")[2] if a.startswith("@%d:" % rank) else a for a in command]
    own = [a for a in own if not (a[:1] == "@" and a[2:3] == ":")]
    started.append(subprocess.Popen(own, env=environment))
codes = [process.wait() for process in started]
sys.exit(next((code for code in codes if code), 0))
