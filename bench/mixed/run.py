#!/usr/bin/env python3
"""One call of samples/cuda/mixed (cuBLAS, cuFFT, PTX and generated kernels in one recording) from the host and back: on a
stream, as a graph, as the same calls written against the driver, and as a program of IREE with generated kernels.

    ./dev bench mixed                       what was built here, on the GPU of this machine
    bench/mixed/run.py --pack=folder        puts the programs into a folder for a machine with a GPU
    mixed.py --programs=folder              there

Contenders are programs, asked in turns; medians over the rounds.
"""
import argparse
import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess

HERE = pathlib.Path(__file__).resolve().parent
US = {"ns": 1e-3, "us": 1, "ms": 1e3, "s": 1e6}
CALL = ["--function=spectrum", "--input=8x8xf32=0.5", "--input=8x8xf32=0.5"]
ANSWER = r"8x8xf32=\[64 0 0 0 0 0 0 0\](\[0 0 0 0 0 0 0 0\]){7}"
# What stable kernels of IREE's are compiled for; newer ones are translated by the driver when they are loaded.
IREE_TARGET = "sm_80"


def places(build: pathlib.Path, environment: pathlib.Path) -> dict[str, pathlib.Path]:
    """Where the programs are that a table needs; those of IREE may be missing."""
    runtime = next(environment.glob("lib/python*/site-packages/iree/_runtime_libs"), environment / "bin")
    return {"baton-benchmark-module": build / "bin/baton-benchmark-module",
            "baton-run-module": build / "bin/baton-run-module",
            "cuda_libraries_bench": build / "bench/hal/cuda_libraries_bench",
            "libraries.so": build / "samples/cuda/mixed/libraries.so",
            "mixed.bvm": build / "samples/cuda/mixed/mixed.bvm",
            "iree-benchmark-module": runtime / "iree-benchmark-module",
            "iree-run-module": runtime / "iree-run-module",
            "spectrum.vmfb": build / "bench/mixed/spectrum.vmfb"}


def compile_for_iree(environment: pathlib.Path, target: pathlib.Path) -> None:
    compiler = environment / "bin/iree-compile"
    if not compiler.exists():
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run([compiler, HERE / "spectrum.mlir", "--iree-input-type=stablehlo", "--iree-hal-target-backends=cuda",
                    f"--iree-cuda-target={IREE_TARGET}", "-o", target], check=True)


def pack(programs: dict[str, pathlib.Path], folder: pathlib.Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, path in programs.items():
        if path.exists() and path.suffix in (".bvm", ".vmfb"):
            shutil.copy(path, folder / name)
        elif path.exists():
            subprocess.run(["strip", "-o", folder / name, path], check=True)
    shutil.copy(__file__, folder / "mixed.py")


def run(command: list, folder: pathlib.Path) -> str:
    searched = f"{folder}:{os.environ.get('LD_LIBRARY_PATH', '')}"
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60,
                          env=os.environ | {"LD_LIBRARY_PATH": searched})
    return done.stdout if done.returncode == 0 else f"{done.stdout}failed: {done.stderr.strip()[-300:]}"


def call_us(output: str) -> float | str:
    """Of what Google Benchmark wrote as JSON."""
    try:
        rows = json.loads(output)["benchmarks"]
    except ValueError:
        return output.strip()[-300:]
    return statistics.median(row["real_time"] * US[row["time_unit"]] for row in rows
                             if row["run_type"] == "iteration" and re.match(r"(BM_)?spectrum(/|$)", row["name"]))


def raw_us(output: str) -> list[float]:
    """Done on a stream, done as a graph."""
    line = next((line for line in output.splitlines() if "mixed sample, raw" in line), "")
    return [float(number) for number in re.findall(r"done ([0-9.]+) us", line)]


def contenders(programs: dict[str, pathlib.Path]) -> dict[str, list]:
    """By title: the flags after the name of a tool, whose run and benchmark programs take the same."""
    ours = [f"--module={programs['libraries.so']}", f"--module={programs['mixed.bvm']}", *CALL]
    rows = {f"Baton, {mode}": ["baton", f"--device=cuda?cuda_mode={mode}", *ours] for mode in ("stream", "graph")}
    if programs["spectrum.vmfb"].exists():
        rows["IREE, generated"] = ["iree", "--device=cuda", f"--module={programs['spectrum.vmfb']}", *CALL]
    return rows


def measure(programs: dict[str, pathlib.Path], rounds: int) -> dict[str, list[float]]:
    folder = programs["baton-run-module"].parent
    rows = contenders(programs)
    times: dict[str, list[float]] = {"raw, stream": [], "raw, graph": [], **{title: [] for title in rows}}
    for title, (tool, *flags) in list(rows.items()):
        said = run([programs[f"{tool}-run-module"], *flags], folder)
        if not re.search(ANSWER, said):
            print(f"{title} is left out: it answers {said.strip()[-300:]!r}")
            del rows[title]
    for _ in range(rounds):
        raw = raw_us(run([programs["cuda_libraries_bench"]], folder))
        for title, figure in zip(("raw, stream", "raw, graph"), raw):
            times[title].append(figure)
        for title, (tool, *flags) in rows.items():
            # Calls alone, and not what ours times besides; IREE's newer library wants a unit.
            sampling = ["--benchmark_min_time=0.1s"] if tool == "iree" else ["--benchmark_min_time=0.1", "--benchmark_filter=^spectrum/"]
            found = call_us(run([programs[f"{tool}-benchmark-module"], *flags, *sampling, "--benchmark_format=json",
                                 "--benchmark_repetitions=3"], folder))
            if isinstance(found, str):
                print(f"{title}: {found}")
            else:
                times[title].append(found)
    return times


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=HERE.parents[1] / "build/release" if len(HERE.parents) > 1 else HERE)
    parser.add_argument("--iree", type=pathlib.Path, default=HERE.parents[1] / "build/iree" if len(HERE.parents) > 1 else HERE)
    parser.add_argument("--pack", type=pathlib.Path)
    parser.add_argument("--programs", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    programs = places(options.build, options.iree)
    if options.programs:
        programs = {name: options.programs.resolve() / name for name in programs}
    else:
        compile_for_iree(options.iree, programs["spectrum.vmfb"])
    if options.pack:
        pack(programs, options.pack)
        return 0
    print("Microseconds from the call to its answer on the host, medians of rounds.")
    for title, figures in measure(programs, options.rounds).items():
        shown = f"{statistics.median(figures):9.2f}   ({', '.join(f'{one:.2f}' for one in figures)})" if figures else "        -"
        print(f"{title:18}{shown}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
