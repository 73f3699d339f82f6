#!/usr/bin/env python3
"""A kernel of Triton's as a command of a program, beside Triton's own launcher: device time and the time of the host.

  bench/modules/triton/run.py pack build/release build/carry/cuda/triton_bench     puts what a machine with a GPU needs into a folder
  run.py run [folder]                                                              there, where PyTorch and Triton are (./dev gpu triton-bench)

The kernel is scale_add of tests/modules/kernel_library/triton; Triton compiles the same there. The program's functions call it once,
or a hundred times in a row on the same tensor, as the graph does that PyTorch captures of Triton's launches. Medians of rounds that take turns. Rows that miss their limit say so; it fails where an answer is wrong.
"""
import ctypes
import importlib
import os
import pathlib
import statistics
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
BLOCK = 256
# Function: elements, launches.
FUNCTIONS = {"one": (1 << 10, 1), "hundred": (1 << 10, 100), "large": (1 << 22, 20)}
ROUNDS = 31
DEVICE_MOST, HOST_LEAST = 1.05, 5.0  # What the rows may be, and must.


def function(name, count, launches):
    """Numbers go first, then scratch pointers that this kernel has none of, then tensors; y is written in place."""
    tensor = f"tensor<{count}xf32>"
    lines = [f'func.func @{name}(%x: {tensor}, %y0: {tensor} {{iree.abi.consume}}) -> {tensor} attributes {{iree.abi.model = "coarse-fences"}} {{',
             f"  %programs = arith.constant {-(-count // BLOCK)} : index",
             "  %factor = arith.constant 2.0 : f32",
             f"  %count = arith.constant {count} : i32",
             "  %none = arith.constant 0 : i64"]
    for i in range(launches):
        lines.append(f"  %y{i + 1} = flow.dispatch @scale_add::@scale_add[%programs](%factor, %count, %none, %none, %x, %y{i})"
                     f" : (f32, i32, i64, i64, {tensor}, {tensor}) -> %y{i}")
    return "\n".join([*lines, f"  return %y{launches} : {tensor}", "}", ""])


def pack(build, folder):
    build, folder = pathlib.Path(build), pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    pair = HERE.parents[2] / "tests/modules/kernel_library/triton/scale_add_3_6"
    source = folder / "launches.mlir"
    subprocess.run([build / "bin/baton-import-triton", f"{pair}.json", f"{pair}.cubin", "--signature=*fp32,*fp32,fp32,i32", "-o", source], check=True)
    with source.open("a") as text:
        for name, (count, launches) in FUNCTIONS.items():
            text.write(function(name, count, launches))
    subprocess.run([build / "bin/baton-compile", "--target-device=cuda", source, "-o", folder / "launches.bvm"], check=True)
    subprocess.run(["strip", "-o", folder / "triton_launches.so", build / "bench/triton_launches.so"], check=True)
    (folder / "scale_add.cubin").write_bytes(pathlib.Path(f"{pair}.cubin").read_bytes())
    (folder / "run.py").write_bytes(pathlib.Path(__file__).read_bytes())


class Launches:
    """A function of the program on a device."""

    def __init__(self, library, folder, name, device):
        self.library, self.launches = library, FUNCTIONS[name][1]
        self.handle = library.launches_open(str(folder / "launches.bvm").encode(), device.encode(), name.encode(), FUNCTIONS[name][0])
        if not self.handle:
            sys.exit("the program was not opened")
        self.calls = 0

    def _begin(self, function, count, failed):
        self.calls += count
        taken = function(self.handle, count)
        if taken < 0:
            sys.exit(failed)
        return taken

    def call(self, count=1):
        return self._begin(self.library.launches_call, count, "a call failed")

    def record(self, folder):
        if self.library.launches_record(self.handle, str(folder / "scale_add.cubin").encode()):
            sys.exit("the launch was not recorded")

    def execute(self, count=1):
        return self._begin(self.library.launches_execute, count, "a recording was not executed")

    def wait(self):
        if self.library.launches_wait(self.handle):
            sys.exit("the device failed")

    def check(self):
        """Whole numbers of f32 are exact up to 2^24."""
        first, wanted = self.library.launches_first(self.handle), min(2.0 * self.calls * self.launches, 2.0**24)
        if wanted < 2.0**24 and first != wanted:
            sys.exit(f"the program gave {first} and not {wanted}")


def open_library(folder):
    library = ctypes.CDLL(str(folder / "triton_launches.so"))
    library.launches_open.restype = ctypes.c_void_p
    library.launches_open.argtypes = [ctypes.c_char_p, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_int64]
    library.launches_call.restype, library.launches_call.argtypes = ctypes.c_double, [ctypes.c_void_p, ctypes.c_int64]
    library.launches_execute.restype, library.launches_execute.argtypes = ctypes.c_double, [ctypes.c_void_p, ctypes.c_int64]
    library.launches_record.argtypes = [ctypes.c_void_p, ctypes.c_char_p]
    library.launches_wait.argtypes = library.launches_first.argtypes = [ctypes.c_void_p]
    library.launches_first.restype = ctypes.c_float
    return library


def taking_turns(contenders, rounds=ROUNDS):
    times = [[] for _ in contenders]
    for turn in range(-3, rounds):
        for i, contender in enumerate(contenders):
            taken = contender()
            if turn >= 0:
                times[i].append(taken)
    return [statistics.median(each) for each in times]


def elapsed(work, count):
    begin = time.perf_counter_ns()
    work()
    return (time.perf_counter_ns() - begin) / count


# Its source is read by Triton, so it stands by itself in a file. Not specialized, as it was for the program: the same machine code.
KERNEL = '''
import triton
import triton.language as tl


@triton.jit(do_not_specialize=["factor", "count"], do_not_specialize_on_alignment=["x", "y"])
def scale_add(x, y, factor, count, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < count
    tl.store(y + at, tl.load(x + at, mask=inside) * factor + tl.load(y + at, mask=inside), mask=inside)
'''


def run(folder):
    folder = pathlib.Path(folder).resolve()  # A library is found by its whole path.
    try:
        import torch
        import triton
    except ImportError as missing:
        print(f"skipped: {missing}")
        return 0
    if not torch.cuda.is_available():
        print("skipped: PyTorch sees no GPU")
        return 0
    (folder / "kernel.py").write_text(KERNEL)
    os.environ["TRITON_DISABLE_LINE_INFO"] = "1"  # As make.py had it.
    sys.path.insert(0, str(folder))
    scale_add = importlib.import_module("kernel").scale_add

    print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}, Triton {triton.__version__}")
    library = open_library(folder)
    missed = 0

    def report(what, theirs, ours, unit, ratio, limit, met):
        nonlocal missed
        missed += not met
        print(f"| {what:90} | {theirs:9.3f} | {ours:9.3f} | {unit} | {ratio:6.2f} | {limit} {'' if met else 'MISSED'} |", flush=True)

    for name, (count, launches) in FUNCTIONS.items():
        x, y = torch.ones(count, device="cuda"), torch.zeros(count, device="cuda")
        grid = (-(-count // BLOCK), 1, 1)

        def launch():
            return scale_add[grid](x, y, 2.0, count, BLOCK=BLOCK)

        compiled = launch()
        torch.cuda.synchronize()
        if launches == 1:
            same = compiled.asm["cubin"] == (folder / "scale_add.cubin").read_bytes()
            print("Triton's machine code here is", "that of the program" if same else "not byte by byte that of the program")
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            for _ in range(launches):
                launch()
        ours = {mode: Launches(library, folder, name, f"cuda://0?cuda_mode={mode}") for mode in ("graph", "auto", "stream")}
        for each in ours.values():
            each.call()
            each.wait()
            each.check()
        y.zero_()
        graph.replay()
        torch.cuda.synchronize()
        if y[0].item() != 2.0 * launches or y[-1].item() != 2.0 * launches:
            sys.exit("the captured graph is wrong")
        again = max(1, 400 // launches)  # Long enough that the device has always something to do.

        def replay():
            for _ in range(again):
                graph.replay()
            torch.cuda.synchronize()

        def execute(mode):
            ours[mode].call(again)
            ours[mode].wait()

        theirs, *mine = taking_turns([lambda: elapsed(replay, again), *[lambda mode=mode: elapsed(lambda: execute(mode), again) for mode in ours]])
        what = f"{launches} launches on {count} elements"
        for mode, each in zip(ours, mine):
            limit = f"<= {DEVICE_MOST}" if mode == "graph" else ""
            report(f"done: {what}; graph of Triton's launches, cuda_mode={mode}", theirs / 1000, each / 1000, "us", each / theirs, limit,
                   not limit or each <= DEVICE_MOST * theirs)
        if launches == 1:
            # The stream is empty before each, and nobody waits in what is timed.
            def from_python(step):
                def once():
                    taken = elapsed(lambda: [step() for _ in range(50)], 50)
                    torch.cuda.synchronize()
                    return taken
                return once

            def from_baton(step, wait):
                def once():
                    taken = step(50)
                    wait()
                    return taken
                return once

            for each in ours.values():
                each.record(folder)
            prepared = compiled[grid]  # What Triton's own users take where the launcher is too slow: no specialization is looked up.

            def prepared_launch():
                prepared(x, y, 2.0, count, BLOCK)

            contenders = [from_python(launch), from_python(prepared_launch), from_python(graph.replay)]
            for each in ours.values():
                contenders += [from_baton(each.execute, each.wait), from_baton(each.call, each.wait)]
            jit, ready, replayed, *mine = taking_turns(contenders)
            for i, mode in enumerate(ours):
                for how, each in (("a recorded command again", mine[2 * i]), ("a program's call", mine[2 * i + 1])):
                    what = f"{how}, cuda_mode={mode}"
                    # Both are held to it where the mode is left to Baton.
                    report(f"host: kernel[grid](...) from Python; {what}", jit / 1000, each / 1000, "us", jit / each,
                           f">= {HOST_LEAST}" if mode == "auto" else "", mode != "auto" or jit >= HOST_LEAST * each)
                    report(f"host: the compiled kernel from Python; {what}", ready / 1000, each / 1000, "us", ready / each, "", True)
                    report(f"host: torch's graph.replay(); {what}", replayed / 1000, each / 1000, "us", replayed / each, "", True)
        elif name == "hundred":
            def python_hundred():
                taken = elapsed(lambda: [launch() for _ in range(launches)], launches)
                torch.cuda.synchronize()
                return taken

            def program_hundred():
                taken = ours["auto"].call() / launches
                ours["auto"].wait()
                return taken

            jit, mine = taking_turns([python_hundred, program_hundred])
            report("host, a launch of 100: kernel[grid](...) from Python; in a program's call, cuda_mode=auto", jit / 1000, mine / 1000, "us",
                   jit / mine, f">= {HOST_LEAST}", jit >= HOST_LEAST * mine)
        for each in ours.values():
            each.check()
    print(f"{missed} rows missed their limit")
    return 0


def main():
    if len(sys.argv) == 4 and sys.argv[1] == "pack":
        pack(*sys.argv[2:])
        return 0
    if len(sys.argv) in (2, 3) and sys.argv[1] == "run":
        return run(sys.argv[2] if len(sys.argv) == 3 else HERE)
    sys.exit(__doc__)


if __name__ == "__main__":
    sys.exit(main())
