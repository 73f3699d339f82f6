"""What tests/gpu/run and tests/gpu/ranks leave out is counted and named with its reason: here with programs that only say so."""
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
SKIPS = """Running main() from gtest_main.cc
capture_test.cpp:40: Skipped
skipped: no CUDA device (UNAVAILABLE; there is no driver)

capture_test.cpp:90: Skipped
nothing is captured on a stream

"""
PROGRAMS = {
    "capture_test": SKIPS + "[  PASSED  ] 7 tests.",
    "sdk_cuda_test": SKIPS + "[  PASSED  ] 0 tests.",
    "driver_test": "[  PASSED  ] 3 tests.",
    "primary_context_test": "skipped: there is no GPU",
    "ranks": "ok      one\nnot run: groups of four ranks: there are 1 GPUs\n1 ok, 0 failed, 1 not run, in 0 s",
    "conformance_test": "[  FAILED  ] 1 test",
}


def lines(command):
    return subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=60).stdout.splitlines()


def expect(said, *wanted):
    for line in wanted:
        if line not in [" ".join(each.split()) for each in said]:
            sys.exit("\n".join(said) + f"\n\nmissing: {line}")


with tempfile.TemporaryDirectory() as folder:
    folder = pathlib.Path(folder)
    for name, said in PROGRAMS.items():
        (folder / name).write_text(f"#!/bin/sh\ncat <<'END'\n{said}\nEND\nexit {int('FAILED' in said)}\n")
        (folder / name).chmod(0o755)
    expect(lines([HERE / "run", folder, "capture"]), "== 1 passed, 0 failed, 2 skipped", "1 capture: nothing is captured on a stream",
           "1 capture: no CUDA device (UNAVAILABLE; there is no driver)")
    expect(lines([HERE / "run", folder, "custom-commands"]), "== 0 passed, 0 failed, 2 skipped")
    expect(lines([HERE / "run", folder, "driver"]), "== 1 passed, 0 failed, 0 skipped")
    expect(lines([HERE / "run", folder, "device-lost"]), "== 0 passed, 0 failed, 2 skipped", "1 device-lost-graph: there is no GPU")
    expect(lines([HERE / "run", folder, "ranks"]), "== 1 passed, 0 failed, 1 skipped", "1 ranks: groups of four ranks: there are 1 GPUs")
    expect(lines([HERE / "run", folder, "conformance"]), "== 0 passed, 1 failed, 0 skipped")
    expect(lines([HERE / "run", folder, "sanitizer"]), "1 sanitizer: there is no compute-sanitizer, or NO_SANITIZER is set")
    # No program is there: what wants one GPU fails, what wants several is not run.
    said = lines([HERE / "ranks", folder])
    if not any(line.startswith("not run: NCCL's conformance: there are ") for line in said) or " 9 not run, in " not in said[-1]:
        sys.exit("\n".join(said))
