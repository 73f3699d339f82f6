#!/usr/bin/env python3
"""What a call from Python costs, beside jax.jit and tvm-ffi in one run: bench/python/run.py [--build=build/release].

Needs the interpreter that the build tree was configured with (BATON_PYTHON); contenders that it lacks are left out by name.
Every row is the median of 15 rounds that take turns; a result is compared before it is timed.

  call/three_arrays   a compiled function of three NumPy arrays of 4 floats on local-sync: reach 3 us
  call/kept_tensors   the same with tensors of Baton
  call/torch          the same with tensors of PyTorch, where it is installed: by DLPack's C exchange API
  call/jax            the same with arrays of JAX
  call/number         a bytecode function of one number: what entering and leaving Python costs
  import              `import baton` in a fresh process, less the interpreter's own start: reach 60 ms
"""
import argparse
import importlib
import os
import pathlib
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
ROUNDS = 15
FMA = """func.func @fma(%x: tensor<4xf32>, %y: tensor<4xf32>, %z: tensor<4xf32>) -> tensor<4xf32> {
  %product = arith.mulf %x, %y : tensor<4xf32>
  %sum = arith.addf %product, %z : tensor<4xf32>
  return %sum : tensor<4xf32>
}
"""
NEXT = """module @next
export func @next(%n: i32) -> i32 {
  const.i32 %v1, 1
  add.i32 %v0, %v0, %v1
  return.value %v0
}
"""


def interpreter_of(build):
    for line in (build / "CMakeCache.txt").read_text().splitlines():
        if line.startswith("BATON_PYTHON:"):
            return line.partition("=")[2]
    return ""


def become_measurer(build):
    python = interpreter_of(build)
    if not python:
        print("skipped: the build tree has no Python package (BATON_PYTHON)")
        sys.exit(0)
    environment = {"PYTHONPATH": str(build / "python"), "BATON_TOOLS": str(build / "bin"), "JAX_PLATFORMS": "cpu",
                   "BATON_MEASURES": "1"}
    sys.exit(subprocess.run([python, __file__, f"--build={build}"], env={**os.environ, **environment}, check=False).returncode)


def seconds(call, count):
    start = time.perf_counter()
    for _ in range(count):
        call()
    return (time.perf_counter() - start) / count


def measure(contenders):
    """{name: (median, half of the middle half's range)} in microseconds; contenders take turns."""
    times = {name: [] for name in contenders}
    for call in contenders.values():
        seconds(call, 200)
    for _ in range(ROUNDS):
        for name, call in contenders.items():
            times[name].append(seconds(call, 2000) * 1e6)
    return {name: (statistics.median(all_), (statistics.quantiles(all_)[2] - statistics.quantiles(all_)[0]) / 2)
            for name, all_ in times.items()}


def library_calls(fma, arrays):
    """The same call with tensors of other libraries."""
    calls = {}
    for name, make in (("torch", lambda torch: torch.tensor), ("jax.numpy", lambda jax: jax.asarray)):
        try:
            library = importlib.import_module(name)
        except ImportError:
            print(f"{name} is left out: it is not installed")
            continue
        given = [make(library)(array) for array in arrays]
        assert fma(*given).tolist() == [3, 3, 3, 3]
        calls[f"call/{name.partition('.')[0]}"] = lambda given=given: fma(*given)
    return calls


def baton_calls(np, arrays):
    import tempfile

    import baton
    from baton._tools import find
    program = baton.load(baton.compile(FMA), device="local-sync")
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder) / "next.bvmasm"
        source.write_text(NEXT)
        subprocess.run([find("baton-as"), source, "-o", source.with_suffix(".bvm")], check=True)
        numbers = baton.load(source.with_suffix(".bvm").read_bytes(), device=None)
    tensors = [program.fma(np.ones(4, np.float32), array, np.zeros(4, np.float32)) for array in arrays]
    fma, step = program.fma, numbers.next
    assert np.asarray(fma(*arrays)).tolist() == [3, 3, 3, 3] and step(41) == 42
    return {**library_calls(fma, arrays), "call/three_arrays": lambda: fma(*arrays), "call/kept_tensors": lambda: fma(*tensors), "call/number": lambda: step(41)}


def peer_calls(np, arrays):
    calls = {}
    try:
        import jax
        fma = jax.jit(lambda x, y, z: x * y + z)
        kept = [jax.numpy.asarray(array) for array in arrays]
        assert np.asarray(fma(*arrays)).tolist() == [3, 3, 3, 3]
        calls["jax.jit/three_arrays"] = lambda: fma(*arrays).block_until_ready()
        calls["jax.jit/kept_tensors"] = lambda: fma(*kept).block_until_ready()
    except ImportError:
        print("jax is left out: it is not installed")
    try:
        import tvm_ffi
        given = [tvm_ffi.from_dlpack(array) for array in arrays]
        nothing = tvm_ffi.get_global_func("testing.nop")
        calls["tvm_ffi/three_arrays (no work)"] = lambda: nothing(*[tvm_ffi.from_dlpack(array) for array in arrays])
        calls["tvm_ffi/kept_tensors (no work)"] = lambda: nothing(*given)
    except ImportError:
        print("tvm_ffi is left out: it is not installed")
    except ValueError as error:
        print(f"tvm_ffi is left out: {error}")
    try:
        calls["iree.runtime/three_arrays"] = iree_call(arrays)
    except ImportError:
        print("iree.runtime is left out: it and iree.compiler are not installed")
    return calls


def iree_call(arrays):
    import iree.compiler
    import iree.runtime as runtime
    binary = iree.compiler.compile_str(FMA.replace("func.func", "func.func public"), target_backends=["llvm-cpu"],
                                       extra_args=["--iree-llvmcpu-target-cpu=generic"])
    context = runtime.SystemContext(config=runtime.Config("local-sync"))
    context.add_vm_module(runtime.VmModule.copy_buffer(context.instance, binary))
    fma = context.modules.module.fma
    assert fma(*arrays).to_host().tolist() == [3, 3, 3, 3]
    return lambda: fma(*arrays)


def import_ms():
    def start(code):
        times = []
        for _ in range(9):
            begin = time.perf_counter()
            subprocess.run([sys.executable, "-c", code], check=True)
            times.append(time.perf_counter() - begin)
        return statistics.median(times) * 1e3

    return start("import baton") - start("pass")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    build = parser.parse_args().build.resolve()
    if not os.environ.get("BATON_MEASURES"):
        become_measurer(build)
    import numpy as np
    arrays = [np.full(4, number, np.float32) for number in (1, 2, 1)]
    for name, (median, spread) in measure({**baton_calls(np, arrays), **peer_calls(np, arrays)}).items():
        print(f"{name:34} {median:8.2f} us  +- {spread:.2f}")
    print(f"{'import':34} {import_ms():8.1f} ms")


main()
