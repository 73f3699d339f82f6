"""Benches that are one Google Benchmark program: run it, take medians, and set them beside what they are to reach."""

import dataclasses
import json
import pathlib
import re
import statistics
import subprocess
import sys

import table

UNITS_NS = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}


@dataclasses.dataclass(frozen=True)
class Row:
    """One line of the table: a benchmark's median, per `units` of its work."""

    name: str
    units: int = 1
    reach_ns: float | None = None
    peer: str = ""  # a benchmark of the same program, to be stayed below `peer_factor` times
    peer_factor: float | None = 1  # None: to be looked at beside it
    counter: str = ""  # a counter instead of the time
    why: str = ""  # there is no limit, in a sentence

    @property
    def reach(self) -> str:
        if self.peer and self.peer_factor is None:
            return f"beside {self.peer}"
        if self.peer:
            return f"<= {self.peer_factor:g} x {self.peer}"
        return f"<= {self.reach_ns:g}" if self.reach_ns is not None else "-"

    def limit_ns(self, figures: "Figures") -> float | None:
        if self.peer:
            return self.peer_factor and self.peer_factor * figures.of(self.peer, self.units, self.counter)
        return self.reach_ns

    def ratio(self, figures: "Figures") -> str:
        """To its peer."""
        return f"{figures.of(self.name, self.units, self.counter) / figures.of(self.peer, self.units, self.counter):.3f}" if self.peer else "-"


class Figures:
    def __init__(self, samples: dict[str, list[dict]]):
        self._samples = samples

    def of(self, name: str, units: int = 1, counter: str = "") -> float:
        return statistics.median(_nanoseconds(sample, counter) for sample in self._samples[name]) / units


def problems_of(rows: list[Row]) -> list[str]:
    """A row is limited, or what another one is held to, or says why not; tests/tidy/bench_limits.py asks."""
    yardsticks = {row.peer for row in rows if row.peer_factor is not None}
    problems = []
    for row in rows:
        limited = row.reach_ns is not None or row.name in yardsticks or (row.peer and row.peer_factor is not None)
        if not limited and not row.why:
            problems.append(f"row '{row.name}' has no limit and does not say why")
        if limited and row.why:
            problems.append(f"row '{row.name}' has a limit or is one, and says why it has none")
    return problems


def run(binary: pathlib.Path, only: str, rounds: int) -> Figures:
    """Every benchmark once a round: noise of a shared machine hits neighbours alike."""
    samples: dict[str, list[dict]] = {}
    for _ in range(rounds):
        command = [str(binary), f"--benchmark_filter={only or '.'}", "--benchmark_format=json", "--benchmark_min_time=0.02"]
        result = subprocess.run(command, capture_output=True, text=True, check=False)
        if result.returncode != 0:
            sys.exit(f"{' '.join(command)}\n{result.stderr.strip()}")
        for sample in json.loads(result.stdout)["benchmarks"]:
            samples.setdefault(_short(sample["name"]), []).append(sample)
    return Figures(samples)


def show(rows: list[Row], figures: Figures, only: str = "") -> None:
    lines, unlimited = [], []
    for row in rows:
        if not re.search(only, row.name):
            continue
        value = figures.of(row.name, row.units, row.counter)
        limit = row.limit_ns(figures)
        verdict = "-" if limit is None else "yes" if value <= limit else "NO"
        lines.append([row.name, table.figure(value), row.ratio(figures), row.reach, verdict])
        if row.why:
            unlimited.append(f"{row.name} has no limit: {row.why}.")
    print(table.render(["row", "ns", "ratio", "reach", ""], lines))
    print("\n" + "\n".join(unlimited) if unlimited else "", end="\n" if unlimited else "")


def _short(name: str) -> str:
    return re.sub(r"/(manual_time|real_time|iterations:\d+)", "", name)


def _nanoseconds(sample: dict, counter: str) -> float:
    if counter:
        return sample[counter]
    # Work of one thread is timed by its own clock, in which others that take the core do not count.
    clock = "real_time" if re.search("manual_time|real_time", sample["name"]) else "cpu_time"
    return sample[clock] * UNITS_NS[sample["time_unit"]]
