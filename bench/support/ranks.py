"""Tools run by one rank or several, and how long a function takes on the slowest of them."""
import json
import os
import pathlib
import statistics
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
MICROSECONDS = {"ns": 1e-3, "us": 1, "ms": 1e3, "s": 1e6}


def device_of(device, ranks):
    """The URI for each of so many ranks: on CUDA each gets the GPU of its number."""
    kind, mark, parameters = device.partition("?")
    return f"cuda://{{rank}}{mark}{parameters}" if kind == "cuda" and ranks > 1 else device


def run(command, ranks, work, limit=600):
    """Runs the command, as so many processes that meet in the folder `work`; ends with what it said when it fails."""
    if ranks > 1:
        store = work / "ranks"
        store.unlink(missing_ok=True)
        # Beside this file where both were carried to another machine.
        start = next(path for path in (HERE / "run_ranks.py", HERE.parents[1] / "tests/support/run_ranks.py") if path.is_file())
        command = [sys.executable, start, ranks, f"file:{store}", *command]
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=limit, check=False, env=os.environ)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")


def slowest_us(command, function, ranks, work, calls, repetitions, limit=600):
    """Microseconds of a call, by baton-benchmark-module, on the slowest rank; of a rank the median of the repetitions."""
    out = str(work / f"{ranks}_{{rank}}.json")
    run([*command, f"--benchmark_filter=^{function}/", f"--iterations={calls}", f"--benchmark_repetitions={repetitions}",
         f"--benchmark_out={out if ranks > 1 else out.format(rank=0)}"], ranks, work, limit)
    return max(_of_rank(pathlib.Path(out.format(rank=rank))) for rank in range(ranks))


def _of_rank(file):
    rows = [row for row in json.loads(file.read_text(encoding="utf-8"))["benchmarks"] if row["run_type"] == "iteration"]
    return statistics.median(row["real_time"] * MICROSECONDS[row["time_unit"]] for row in rows)
