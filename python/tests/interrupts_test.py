"""Ctrl-C while a program runs, of the kinds that run long: loops of the VM, kernels, initializers, functions of Python inside. A process
gets SIGINT from a thread of its own while its main thread is in a call; one that did not end by it would run for hours. Each call begins
with a function of Python's, so that the signal comes when the call is in the program, however fast the machine is."""
import subprocess
import sys

import pytest

import baton
from conftest import assembled

LOOP = """
module @loop
import @app.again() -> i32
export func @loop() {
  call.import @app.again, %v0, %r0
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
export func @count(%n: i64) -> i32 {
  const.i64 %v1, -1
  const.i64 %v2, 0
  move %v3, %n
  call.import @app.again, %v10, %r0
again:
  add.i64 %v3, %v3, %v1
  cmp.lt.s.i64 %v4, %v2, %v3
  br.if %v4, again
  return.value %v10
}
"""
SETUP = """
module @setup
import @app.again() -> i32
initializer @setup

func @setup() {
  call.import @app.again, %v0, %r0
again:
  br again
}
"""
KERNEL = """
func.func private @app.again() -> i32
func.func @kernel(%x: tensor<4xf32>) -> tensor<4xf32> {
  %told = call @app.again() : () -> i32
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
import asyncio, os, signal, sys, threading, time
import baton
def press(): os.kill(os.getpid(), signal.SIGINT)
def soon(calls=1):
    "As the program's function: the signal comes when it has returned to the program for the nth time."
    main, told = threading.get_ident(), []
    def is_inside():
        frame = sys._current_frames()[main]
        while frame and frame.f_code is not again.__code__: frame = frame.f_back
        return frame
    def wait():
        while is_inside(): time.sleep(0.001)
        press()
    def again():
        told.append(1)
        if len(told) == calls: threading.Thread(target=wait).start()
        return 1
    return again
def load(again=lambda: 1, device=None, file=1): return baton.load(sys.argv[file], device=device, modules=[baton.module("app", {"again": again})])
def expect(call):
    try: call(); print("not interrupted", flush=True)
    except KeyboardInterrupt as error: print("interrupted", error.__cause__, flush=True)
"""
CASES = {
    "a loop": "expect(load(soon()).loop)",
    "twice": "for _ in range(2): p = load(soon(2)); p.once(); expect(p.loop)\nprint(p.once())",
    "a function that was brief and one that was not": "p = load(soon(2)); p.once(); expect(p.loop); print(p.once())",
    "a function whose last call was brief": "p = load(soon(1001))\nfor _ in range(1000): p.count(1)\nexpect(lambda: p.count(10**15)); print(p.once())",
    "a loop that calls Python": "expect(load(soon(5)).ask)",
    "a call inside a call": "q = load(soon()); expect(load(lambda: q.loop()).once)",
    "a call behind a call inside": "q = load(); again = soon(); expect(load(lambda: again() and q.once()).loop)",
    "Python asleep inside a call": "expect(load(lambda: threading.Timer(0, press).start() or time.sleep(1000)).once)",
    "a kernel's loop": "p = load(soon(), 'local-task', 2); expect(lambda: p.kernel([1, 2, 3, 4]))",
    "an initializer's loop": "expect(lambda: load(soon(), file=3)); p = load(); print(p.once())",
    "a copy's initializer": "s, n = soon(2), iter([1, 0]); p = load(lambda: s() and next(n), file=4); expect(p.copy)",
    "a handler that came and went": "p = load(soon(2)); p.once(); h = signal.signal(signal.SIGINT, print); signal.signal(signal.SIGINT, h); expect(p.loop)",
    "a handler that came and went, by the inner door":
        "from _signal import signal as s; p = load(soon(2)); f, l, h, n = p.once, p.loop, signal.default_int_handler, 1; f(); s(2, n); s(2, h); expect(l)",
    "a loop of events before": "p = load(soon(2)); p.once(); asyncio.run(asyncio.sleep(0)); expect(p.loop)",
    "a function that handles another one":
        "q = load(soon())\ndef handle():\n  expect(q.loop); return 1\np = load(handle); print(p.count(10**6))",
}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("loops")
    try:
        (folder / "kernel.bvm").write_bytes(baton.compile(KERNEL))
    except baton.UnavailableError as error:
        pytest.skip(f"there is no compiler: {error}")
    texts = {"loop": LOOP, "setup": SETUP, "setup_once": SETUP.replace("again:\n  br again", "br.if_not %v0, again\n  return\nagain:\n  br again")}
    loop, setup, once = (str(assembled(folder, name, text)) for name, text in texts.items())
    return loop, str(folder / "kernel.bvm"), setup, once


def run(code, files):
    return subprocess.run([sys.executable, "-c", HEAD + code, *files], capture_output=True, text=True, check=False, timeout=60)


@pytest.mark.parametrize("case", CASES)
def test_ctrl_c_ends(files, case):
    done = run(CASES[case], files)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    wanted = 2 if case == "twice" else 1
    assert lines[:wanted] == ["interrupted None"] * wanted and lines[wanted:] in ([], ["1"])


def test_a_handler_of_the_users_own_lets_the_call_go_on(files):
    done = run("""
noted = []
p = load(lambda: press() or 7)
try: p.once()
except KeyboardInterrupt: print("interrupted")
signal.signal(signal.SIGINT, lambda *_: noted.append(1))
print(p.count(10**6), len(noted))
signal.signal(signal.SIGINT, signal.SIG_IGN)
print(p.count(10**6), len(noted))
""", files)
    assert done.stdout == "interrupted\n7 1\n7 1\n", done.stdout + done.stderr


def test_a_handler_that_is_set_inside_a_call_stays(files):
    done = run("""
p = load(lambda: signal.signal(signal.SIGINT, mine) and 5)
def mine(*_): print("mine", flush=True)
print(p.once()); press(); print(signal.getsignal(signal.SIGINT) is mine)
""", files)
    assert done.stdout == "5\nmine\nTrue\n", done.stdout + done.stderr


def test_a_function_that_handles_it_saves_its_call(files):
    done = run("""
def again():
    try: press(); time.sleep(1000)
    except KeyboardInterrupt: return load().once() + 6
p = load(again); print(p.count(10**6), p.once())
again = soon(); q = load(again); expect(q.loop)
""", files)
    assert done.stdout == "7 7\ninterrupted None\n", done.stdout + done.stderr


def test_a_command_that_handles_it_saves_its_call(files):
    code = """
      func.func private @app.again() -> i32
      func.func private @app.c(%x: tensor<4xf32>) -> tensor<4xf32> attributes {iree.abi.streamable}
      func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
        %y = call @app.c(%x) : (tensor<4xf32>) -> tensor<4xf32>
        %z = call @app.c(%y) : (tensor<4xf32>) -> tensor<4xf32>
        return %z : tensor<4xf32>
      }"""
    done = run("""
def handle(x, y):
    try: press(); time.sleep(1000)
    except KeyboardInterrupt: told.append(1)
told = []
for handles in (lambda commands, x, y: handle(x, y), lambda commands, x, y: commands.host(handle, x, y)):
    f = baton.load(baton.compile(%r), device="local-sync", modules=[baton.module("app", {"c": handles, "again": lambda: 1})]).f
    f([1, 2, 3, 4]).tolist(); print(len(told))
""" % code, files)
    assert done.stdout == "2\n4\n", done.stdout + done.stderr


WAITS = {"a tensor": "result.wait", "what reads a tensor": "lambda: result.tolist()", "a device": "device.wait"}


@pytest.mark.parametrize("waits", WAITS)
def test_ctrl_c_ends_who_waits(files, waits):
    """And what is waited for goes on."""
    code = """
      func.func private @app.hold(%x: tensor<4xf32>) -> tensor<4xf32> attributes {iree.abi.streamable}
      func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> attributes {iree.abi.model = "coarse-fences"} {
        %y = call @app.hold(%x) : (tensor<4xf32>) -> tensor<4xf32>
        return %y : tensor<4xf32>
      }"""
    done = run("""
begun, over = threading.Event(), threading.Event()
def hold(x, y): begun.set(); over.wait(); y[:] = x[:]
device = baton.device("local-task")
f = baton.load(baton.compile(%r), device=device, modules=[baton.module("app", {"hold": lambda commands, x, y: commands.host(hold, x, y)})]).f
result = f([1, 2, 3, 4]); begun.wait()
expect(lambda: threading.Timer(0.1, press).start() or (%s)()); over.set(); print(result.tolist())
""" % (code, WAITS[waits]), files)
    assert done.stdout == "interrupted None\n[1.0, 2.0, 3.0, 4.0]\n", done.stdout + done.stderr


def test_a_signal_before_a_call_is_not_lost(files):
    done = run("""
p = load()
def call(): signal.raise_signal(signal.SIGINT); p.loop()
expect(call)
""", files)
    assert done.stdout == "interrupted None\n", done.stdout + done.stderr


def test_a_thread_is_not_ended_by_it(files):
    done = run("""
begun, over = threading.Event(), threading.Event()
p = load(lambda: begun.set() or over.wait() and 3)
thread = threading.Thread(target=lambda: print(p.count(10**6), flush=True)); thread.start(); begun.wait()
expect(lambda: press() or time.sleep(1000)); over.set(); thread.join()
""", files)
    assert sorted(done.stdout.splitlines()) == ["3", "interrupted None"], done.stdout + done.stderr


def test_threads_that_python_did_not_start_stay_unknown_to_it(files):
    """threading makes an object of each thread that asks it who it is, and keeps it."""
    done = run("""
import ctypes
p = load(); p.once()
body = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)(lambda _: p.once() and None)
pthread, library = ctypes.c_ulong(), ctypes.CDLL(None)
for _ in range(3): library.pthread_create(ctypes.byref(pthread), None, body, None); library.pthread_join(pthread, None)
print([type(each).__name__ for each in threading.enumerate()])
""", files)
    assert done.stdout == "['_MainThread']\n", done.stdout + done.stderr


@pytest.mark.parametrize("forks", ["a thread", "the call itself"])
def test_a_child_that_was_forked_in_a_call_has_calls_of_its_own(files, forks):
    done = run("""
def fork():
    child = os.fork()
    if child == 0: expect(load(soon()).loop); expect(load(soon()).loop); os._exit(0)
    os.waitpid(child, 0)
def forked():
    thread = threading.Thread(target=fork); thread.start(); thread.join()
    return 1
p = load(%s); print(p.count(10**6)); again = soon(); expect(load(again).loop)
""" % ("forked" if forks == "a thread" else "lambda: fork() or 1"), files)
    assert done.stdout == "interrupted None\n" * 2 + "1\ninterrupted None\n", done.stdout + done.stderr
