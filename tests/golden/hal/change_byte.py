"""Changes the fourth byte of what a step of a recording wrote first."""
import json
import pathlib
import sys

folder, number = pathlib.Path(sys.argv[1]), int(sys.argv[2])
steps = [json.loads(line) for line in (folder / "steps.jsonl").read_text().splitlines()]
at = steps[number]["writes"][0]["at"] + 3
snapshots = bytearray((folder / "snapshots.bin").read_bytes())
snapshots[at] ^= 0x10
(folder / "snapshots.bin").write_bytes(snapshots)
