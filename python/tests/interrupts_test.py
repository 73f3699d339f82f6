"""Ctrl-C while a program runs, of the kinds that run long: loops of the VM, kernels, functions of Python inside. A process gets SIGINT
from a thread of its own while its main thread is in a call; one that did not end by it would run for hours."""
import subprocess
import sys

import pytest

import baton
from conftest import assembled

LOOP = """
module @loop
import @app.again() -> i32
export func @loop() {
again:
  br again
}
export func @ask() {
again:
  call.import @app.again, %v0, %r0
  br again
}
export func @once() -> i32 {
  call.import @app.again, %v0, %r0
  return
}
"""
KERNEL = """
func.func @kernel(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %many = arith.constant 1000000000000 : index
  %y = scf.for %i = %c0 to %many step %c1 iter_args(%z = %x) -> tensor<4xf32> {
    %w = arith.addf %z, %x : tensor<4xf32>
    scf.yield %w : tensor<4xf32>
  }
  return %y : tensor<4xf32>
}
"""
HEAD = """
import os, signal, sys, threading, time
import baton
def soon(): threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
def load(**functions): return baton.load(sys.argv[1], device=None, modules=[baton.module("app", {"again": lambda: 1, **functions})])
def expect(call):
    try: call()
    except KeyboardInterrupt as error: print("interrupted", error.__cause__, flush=True)
"""
CASES = {
    "a loop": "p = load(); soon(); expect(p.loop)",
    "twice": "p = load()\nfor _ in range(2): soon(); expect(p.loop)\nprint(p.once())",
    "a function that was brief and one that was not": "p = load(); p.once(); soon(); expect(p.loop); print(p.once())",
    "a loop that calls Python": "p = load(); soon(); expect(p.ask)",
    "a call inside a call": "q = load(); p = load(again=lambda: q.loop()); soon(); expect(p.once)",
    "Python asleep inside a call": "p = load(again=lambda: time.sleep(1000)); soon(); expect(p.once)",
    "a kernel's loop": "p = baton.load(sys.argv[2], device='local-task'); soon(); expect(lambda: p.kernel([1, 2, 3, 4]))",
    "the initializer's": "p = load(); soon(); expect(p.loop); p = load(); print(p.once())",
}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("loops")
    try:
        (folder / "kernel.bvm").write_bytes(baton.compile(KERNEL))
    except baton.UnavailableError as error:
        pytest.skip(f"there is no compiler: {error}")
    return str(assembled(folder, "loop", LOOP)), str(folder / "kernel.bvm")


def run(code, files):
    return subprocess.run([sys.executable, "-c", HEAD + code, *files], capture_output=True, text=True, check=False, timeout=60)


@pytest.mark.parametrize("case", CASES)
def test_ctrl_c_ends(files, case):
    done = run(CASES[case], files)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    wanted = 2 if case == "twice" else 1
    assert [line.split()[0] for line in lines[:wanted]] == ["interrupted"] * wanted and lines[wanted:] in ([], ["1"])


def test_a_handler_of_the_users_own_lets_the_call_go_on(files):
    done = run("""
noted = []
signal.signal(signal.SIGINT, lambda *_: noted.append(1))
p = load(again=lambda: time.sleep(0.8) or 7)
soon(); print(p.once(), len(noted))
signal.signal(signal.SIGINT, signal.SIG_IGN)
soon(); print(p.once(), len(noted))
""", files)
    assert done.stdout == "7 1\n7 1\n", done.stdout + done.stderr


def test_a_handler_that_is_set_inside_a_call_stays(files):
    done = run("""
p = load(again=lambda: signal.signal(signal.SIGINT, mine) and 5)
def mine(*_): print("mine", flush=True)
print(p.once()); os.kill(os.getpid(), signal.SIGINT); print(signal.getsignal(signal.SIGINT) is mine)
""", files)
    assert done.stdout == "5\nmine\nTrue\n", done.stdout + done.stderr


def test_a_thread_is_not_ended_by_it(files):
    done = run("""
p = load(again=lambda: time.sleep(0.8) or 3)
thread = threading.Thread(target=lambda: print(p.once(), flush=True)); thread.start(); soon()
expect(lambda: time.sleep(1000)); thread.join()
""", files)
    assert sorted(done.stdout.splitlines()) == ["3", "interrupted None"], done.stdout + done.stderr
