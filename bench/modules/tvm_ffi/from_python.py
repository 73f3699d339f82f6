#!/usr/bin/env python3
"""What Python pays for a program's function through TVM-FFI's own frontend, beside a function that TVM-FFI's users build in C++; and
what calling such a function costs Python, beside a program that calls it. Nanoseconds of this thread a call, medians of rounds that take turns.

  from_python.py [build/release]     by a Python with the wheels apache-tvm-ffi and numpy
"""
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np
import tvm_ffi

LIMIT = 1.3
CALLS, ROUNDS = 20000, 31
PROGRAM = """
module @bench
import @functions.half(f64) -> f64
import @functions.address_of(hal.buffer_view) -> i64
export func @halve(%x: f64) -> f64 {
  const.f64 %v1, 0.5
  mul.f64 %v0, %v0, %v1
  return
}
export func @same(%x: hal.buffer_view) -> hal.buffer_view {
  return
}
export func @numbers(%count: i64) -> f64 {
  const.i64 %v1, 0
again:
  const.f64 %v10, 3.0
  call.import @functions.half, %v10, %r0
  next.i64 %v1, %v0, again
  move %v0, %v10
  return
}
export func @tensors(%x: hal.buffer_view, %count: i64) -> i64 {
  const.i64 %v1, 0
again:
  call.lend @functions.address_of, %v10, %r1, [%r0]
  next.i64 %v1, %v0, again
  move %v0, %v10
  return
}
"""


def calls(function, *arguments):
    for _ in range(CALLS):
        function(*arguments)


def nanoseconds(work):
    begin = time.thread_time_ns()
    work()
    return (time.thread_time_ns() - begin) / CALLS


def compare(what, own, ours, limit):
    times = [], []
    for _ in range(ROUNDS):
        times[0].append(nanoseconds(own))
        times[1].append(nanoseconds(ours))
    theirs, baton = map(statistics.median, times)
    print(f"{what:52} {theirs:8.1f} {baton:8.1f} {baton / theirs:6.2f} {limit}")


def main(build="build/release"):
    build = pathlib.Path(build)
    functions = str(build / "tests/modules/tvm_ffi/functions.so")
    own = tvm_ffi.load_module(functions)
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder) / "bench.bvm"
        subprocess.run([build / "bin/baton-as", "-", "-o", program], input=PROGRAM, text=True, check=True)
        baton = tvm_ffi.load_module(str(build / "lib/baton_tvm_ffi.so")).load(str(program), "", f"{functions}?address_of=(view) -> i64")
    x = tvm_ffi.from_dlpack(np.zeros(64, np.float32))
    half, same, address_of = own["half"], own["same"], own["address_of"]
    halve, same_again, numbers, tensors = map(baton, ("halve", "same", "numbers", "tensors"))
    assert half(3.0) == halve(3.0) == numbers(2) == 1.5 and address_of(x) == tensors(x, 2)
    print(f"{'ns a call':52} {'TVM-FFI':>8} {'Baton':>8} {'ratio':>6} limit")
    compare("out: a number, from Python", lambda: calls(half, 1.0), lambda: calls(halve, 1.0), LIMIT)
    compare("out: a tensor, and the same back, from Python", lambda: calls(same, x), lambda: calls(same_again, x), LIMIT)
    compare("in: a number; theirs called by Python", lambda: calls(half, 3.0), lambda: numbers(CALLS), LIMIT)
    compare("in: a tensor, lent; theirs called by Python", lambda: calls(address_of, x), lambda: tensors(x, CALLS), LIMIT)


main(*sys.argv[1:])
