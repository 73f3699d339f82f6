#!/usr/bin/env python3
"""Runs the command-line tools as users do and prints one table: how long a start takes, how much memory it has, how fast files go through.

On a machine that others use too, run it at real-time priority: chrt -f 20 bench/tools/run.py. Files go through shared memory, which
no disk disturbs.
"""

import argparse
import os
import pathlib
import re
import shutil
import statistics
import struct
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench/support"))

import machine  # noqa: E402
import table  # noqa: E402

HERE = pathlib.Path(__file__).parent
RESIDENT_MIB = 12
CAT_SHARE = 0.8
TEMPLATE_S = 5


class Tools:
    """The tools of a build, and IREE's where its packages are."""

    def __init__(self, build: pathlib.Path, iree: pathlib.Path, work: pathlib.Path):
        self.bin, self.work = build / "bin", work
        packages = [path for path in iree.glob("lib/python*/site-packages/iree") if path.is_dir()]
        self.iree_run = self._first(packages, "_runtime_libs/iree-run-module")
        self.iree_compile = self._first(packages, "compiler/_mlir_libs/iree-compile")

    def program(self, source: str) -> pathlib.Path:
        target = self.work / (source.replace(".", "_") + ".bvm")
        tool = "baton-as" if source.endswith(".bvmasm") else "baton-compile"
        run([self.bin / tool, HERE / source, "-o", target])
        return target

    def iree_program(self, source: str) -> pathlib.Path | None:
        if not (self.iree_run and self.iree_compile):
            return None
        target = self.work / (source + ".vmfb")
        run([self.iree_compile, HERE / source, "-o", target, "--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=llvm-cpu",
             "--iree-llvmcpu-target-cpu=host"])
        return target

    @staticmethod
    def _first(folders: list[pathlib.Path], name: str) -> pathlib.Path | None:
        return next((folder / name for folder in folders if (folder / name).exists()), None)


def run(command: list, stdout=subprocess.DEVNULL) -> str:
    result = subprocess.run([str(part) for part in command], stdout=stdout, stderr=subprocess.PIPE, text=True, check=False)
    if result.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\n{result.stderr.strip()}")
    return result.stderr


def seconds(command: list) -> float:
    """From the start of a program to its end, with as little of Python in between as there is."""
    arguments = [str(part) for part in command]
    silent = [(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]
    begin = time.perf_counter()
    child = os.posix_spawn(arguments[0], arguments, os.environ, file_actions=silent)
    _, status = os.waitpid(child, 0)
    taken = time.perf_counter() - begin
    if status != 0:
        sys.exit(f"{' '.join(arguments)} ended with status {status}")
    return taken


def alternate(commands: dict[str, list], rounds: int, target: pathlib.Path | None = None) -> dict[str, list[float]]:
    """Each command once a round, so that noise hits all alike; each makes its `target` anew."""
    taken = {name: [] for name in commands}
    for _ in range(rounds):
        for name, command in commands.items():
            if target:
                target.unlink(missing_ok=True)
            taken[name].append(seconds(command))
    return taken


def medians(taken: dict[str, list[float]]) -> dict[str, float]:
    return {name: statistics.median(times) for name, times in taken.items()}


def resident_mib(command: list) -> float:
    return float(re.search(r"resident memory\s+([0-9.]+) KiB", run([*command, "--print_statistics"])).group(1)) / 1024


def write_npy(path: pathlib.Path, mib: int) -> None:
    head = repr({"descr": "<f4", "fortran_order": False, "shape": (mib << 18,)})
    head += " " * (-(len(head) + 11) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\0" + struct.pack("<H", len(head)) + head.encode())
        for block in range(mib):
            file.write(bytes([block & 0xff]) * (1 << 20))


def verdict(met: bool) -> str:
    return "yes" if met else "NO"


def start_rows(tools: Tools, rounds: int) -> list[list[str]]:
    compiled = (tools.bin / "baton-compile").exists()
    source = "multiply.mlir" if compiled else "same.bvmasm"
    inputs = ["--input=4xf32=1,2,3,4", "--input=4xf32=2"] if compiled else ["--input=4xf32=2"]
    program, theirs = tools.program(source), tools.iree_program(source) if compiled else None
    flags = ["--function=multiply" if compiled else "--function=same", *inputs]
    rows = []
    for device in ("local-sync", "local-task"):
        ours = [tools.bin / "baton-run-module", program, f"--device={device}", *flags]
        commands = {"baton": ours, "nothing": ["/bin/true"]}
        if theirs:
            commands["iree"] = [tools.iree_run, f"--module={theirs}", f"--device={device}", *flags]
        took = medians(alternate(commands, rounds))
        peer = took.get("iree")
        rows.append([f"start, {device}", f"{took['baton'] * 1e3:.2f} ms", f"{peer * 1e3:.2f} ms (IREE)" if peer else "- (no IREE)",
                     "<= 1 x IREE's", verdict(took["baton"] <= peer) if peer else "-"])
        if device == "local-sync":
            rows.append(["  of which any program", f"{took['nothing'] * 1e3:.2f} ms", "", "", ""])
        memory = resident_mib(ours)
        rows.append([f"resident memory, {device}", f"{memory:.1f} MiB", "", f"<= {RESIDENT_MIB} MiB", verdict(memory <= RESIDENT_MIB)])
    return rows


def npy_rows(tools: Tools, mib: int, rounds: int) -> list[list[str]]:
    source, target = tools.work / "in.npy", tools.work / "out.npy"
    write_npy(source, mib)
    same = [tools.bin / "baton-run-module", tools.program("same.bvmasm"), "--device=local-sync", "--function=same"]
    taken = alternate({
        "cat": ["/bin/sh", "-c", f"exec cat {source} > {target}"],
        "baton": [*same, f"--input=@{source}", f"--output=@{target}"],
    }, rounds, target)
    run([*same, f"--input=@{source}", f"--expected_output=@{target}"])
    took = medians(taken)
    share = statistics.median(cat / baton for cat, baton in zip(taken["cat"], taken["baton"]))
    rate = mib / 1024 / took["baton"]
    source.unlink()
    target.unlink()
    return [[f"{mib} MiB .npy in and out", f"{rate:.2f} GiB/s", f"{mib / 1024 / took['cat']:.2f} GiB/s (cat)", f">= {CAT_SHARE} x cat's",
             f"{verdict(share >= CAT_SHARE)} ({share:.2f})"]]


def parameter_rows(tools: Tools, mib: int, rounds: int) -> list[list[str]]:
    """Most of a large file is never touched: it costs neither time nor memory."""
    large, small = tools.work / "large/weights.bin", tools.work / "small/weights.bin"
    for file in (large, small):
        file.parent.mkdir()
    with open(large, "wb") as file:
        for _ in range(mib):
            file.write(b"\1" * (1 << 20))
    small.write_bytes(b"\1" * 4096)
    command = [tools.bin / "baton-run-module", tools.program("first_word.bvmasm"), "--device=local-sync", "--function=first_word"]
    with_large, with_small = [*command, f"--parameters=weights={large}"], [*command, f"--parameters=weights={small}"]
    took = medians(alternate({"large": with_large, "small": with_small}, rounds))
    memory = resident_mib(with_large)
    return [[f"start with {mib} MiB of parameters", f"{took['large'] * 1e3:.2f} ms", f"{took['small'] * 1e3:.2f} ms (4 KiB)", "mapped, not read",
             verdict(memory <= RESIDENT_MIB)],
            ["  its resident memory", f"{memory:.1f} MiB", "", f"<= {RESIDENT_MIB} MiB", verdict(memory <= RESIDENT_MIB)]]


def template_rows(build: pathlib.Path, work: pathlib.Path, rounds: int) -> list[list[str]]:
    """A module of one's own: samples/module-template, configured and built against the installed runtime."""
    run(["cmake", "--install", build, "--prefix", work / "runtime", "--component", "runtime"])
    shutil.copytree(ROOT / "samples/module-template", work / "template")
    compilers = [f"-DCMAKE_{language}_COMPILER={compiler}" for language, compiler in (("C", "clang-19"), ("CXX", "clang++-19"))]
    taken = []
    for i in range(rounds):
        target, begin = work / f"template-{i}", time.perf_counter()
        run(["cmake", "-S", work / "template", "-B", target, "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={work}/runtime", *compilers])
        run(["cmake", "--build", target])
        taken.append(time.perf_counter() - begin)
    took = statistics.median(taken)
    return [["module-template, configured and built", f"{took:.2f} s", "", f"<= {TEMPLATE_S} s", verdict(took <= TEMPLATE_S)]]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release", help="build folder of the tools")
    parser.add_argument("--iree", type=pathlib.Path, default=ROOT / "build/iree", help="virtual environment with IREE's packages")
    parser.add_argument("--mib", type=int, default=1024, help="size of the large files")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    for line in machine.describe(options.build):
        print(line)
    memory = pathlib.Path("/dev/shm")
    with tempfile.TemporaryDirectory(prefix="baton-bench-", dir=memory if memory.is_dir() else None) as work:
        tools = Tools(options.build, options.iree, pathlib.Path(work))
        rows = start_rows(tools, options.rounds * 10) + npy_rows(tools, options.mib, options.rounds) + parameter_rows(tools, options.mib, options.rounds * 4)
        rows += template_rows(options.build, tools.work, options.rounds)
    print("\nMedians over rounds in which every program runs once; of cat also the share is one of rounds. A start is a whole run of the tool, from spawning it to its end.\n")
    print(table.render(["question", "Baton", "beside", "reach", "met"], rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
