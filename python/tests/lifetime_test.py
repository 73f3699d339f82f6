"""Who lives how long: arrays, programs, tensors, functions, devices; Python's collector; threads; fork."""
import gc
import multiprocessing
import os
import subprocess
import sys
import threading
import weakref

import numpy as np
import pytest

import baton
from conftest import app


class Array(np.ndarray):
    """An array that can be watched."""


def watched(count=1000):
    array = np.arange(count, dtype=np.float32)
    owner = array.view(Array)
    return owner, weakref.ref(owner)


def gone(reference):
    for _ in range(100):
        gc.collect()
        if reference() is None:
            return True
        threading.Event().wait(0.01)
    return False


def test_an_argument_ends_with_the_call(math):
    array, reference = watched()
    math.add(array, array)
    del array
    assert gone(reference)


def test_a_result_that_is_an_argument_keeps_it(host):
    array, reference = watched()
    tensor = host.same(array)
    del array
    gc.collect()
    assert reference() is not None and np.asarray(tensor)[999] == 999
    view = np.asarray(tensor)
    del tensor
    gc.collect()
    assert view[999] == 999
    del view
    assert gone(reference)


def test_arrays_of_calls_in_flight_live(async_file, device):
    program = baton.load(async_file, device=device)
    tensors = []
    for number in range(50):
        tensors.append(program.twice(np.full(10000, number, np.float32)))
        gc.collect(0)
    del program
    for number, tensor in enumerate(tensors):
        assert (np.asarray(tensor) == 2 * number).all()


def test_results_outlive_their_program_and_its_name(math_file):
    program = baton.load(math_file, device="local-task?workers=2")
    tensor = program.add(np.ones(100, np.float32), np.ones(100, np.float32))
    add = program.add
    del program
    gc.collect()
    assert np.asarray(add(tensor, tensor)).sum() == 400
    del add
    gc.collect()
    assert np.asarray(tensor).sum() == 200
    assert np.from_dlpack(tensor).sum() == 200


def test_calls_that_fail_keep_nothing(host, math):
    array, reference = watched()
    for function, arguments in ((host.number, (array,)), (math.fma, (array, array, array)), (host.same, (array, 1)),
                                (math.add, (array, "no tensor"))):
        with pytest.raises((TypeError, baton.StatusError)):
            function(*arguments)
    del array, arguments, function
    assert gone(reference)


def test_a_ring_through_a_function_of_python_is_collected(host_file):
    class Owner:
        def __init__(self):
            self.program = baton.load(host_file, device="local-sync", modules=[app(nothing=self.nothing)])
            self.function = self.program.nothing
            self.calls = 0

        def nothing(self):
            self.calls += 1

    owner = Owner()
    owner.function()
    assert owner.calls == 1
    reference = weakref.ref(owner)
    del owner
    assert gone(reference)


def test_the_collector_may_run_in_the_midst_of_calls(host_file, device):
    class Ring:
        pass

    def collect(tensor):
        ring = Ring()
        ring.ring = ring
        gc.collect()
        return np.asarray(tensor) + 1

    program = baton.load(host_file, device=device, modules=[app(tensor=collect)])
    for number in range(30):
        assert float(np.asarray(program.tensor(np.float32(number)))) == number + 1


def test_a_function_that_drops_its_own_program(host_file):
    held = {}

    def drop():
        held.clear()
        gc.collect()

    held["program"] = baton.load(host_file, device="local-sync", modules=[app(nothing=drop)])
    held["program"].nothing()
    assert not held


def test_memory_goes_back(math):
    device = math.add(np.ones(1, np.float32), np.ones(1, np.float32)).device
    before = device.memory_use[0]
    for _ in range(100):
        math.add(np.ones(100_000, np.float32), np.ones(100_000, np.float32))
    gc.collect()
    assert device.memory_use[0] <= before + 2 * 400_000


def run_threads(count, body):
    failures = []

    def guarded(index):
        try:
            body(index)
        except BaseException as error:  # noqa: BLE001 - it is told below
            failures.append(error)

    threads = [threading.Thread(target=guarded, args=(index,)) for index in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures, failures


def test_threads_call_one_program(math):
    def body(index):
        array = np.full(64, index, np.float32)
        for _ in range(200):
            assert (np.asarray(math.add(array, array)) == 2 * index).all()

    run_threads(8, body)


def test_threads_call_into_python(host_file, device):
    program = baton.load(host_file, device=device, modules=[app(tensor=lambda tensor: np.asarray(tensor) * 2)])

    def body(index):
        for _ in range(100):
            assert (np.asarray(program.tensor(np.full(8, index))) == 2 * index).all()

    run_threads(8, body)


def test_threads_load_and_drop_programs(math_file):
    def body(index):
        for number in range(10):
            program = baton.load(math_file, device=f"local-task?workers={1 + index % 3}" if number % 2 else "local-sync")
            assert np.asarray(program.add([1.0 * index], [2.0])).tolist() == [index + 2]

    run_threads(4, body)


def test_errors_of_threads_do_not_mix(host_file):
    def fail(tensor):
        raise ValueError(str(int(np.asarray(tensor))))

    program = baton.load(host_file, device="local-sync", modules=[app(tensor=fail)])

    def body(index):
        for number in range(50):
            with pytest.raises(baton.InvalidArgumentError) as raised:
                program.tensor(np.int64(1000 * index + number))
            assert str(raised.value.__cause__) == str(1000 * index + number)

    run_threads(6, body)


def test_python_goes_on_while_a_program_runs(host_file):
    program = baton.load(host_file, device="local-sync", modules=[app()], timeout=0.5)
    steps = []
    done = threading.Event()

    def loop():
        try:
            program.loop()
        except TimeoutError:
            done.set()

    thread = threading.Thread(target=loop)
    thread.start()
    while not done.wait(0.01):
        steps.append(1)
    thread.join()
    assert len(steps) >= 3


def in_child(program, ask):
    """What `ask` gives in a forked child, as text."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            said = ask(program)
        except BaseException as error:  # noqa: BLE001 - it is what the test asks for
            said = f"{type(error).__name__}: {error}"
        os.write(writer, said.encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as told:
        said = told.read()
    assert os.waitpid(child, 0)[1] == 0
    return said


def add(program):
    return str(float(np.asarray(program.add([1.0], [2.0]))[0]))


@pytest.mark.filterwarnings("ignore:.*fork.*")
def test_a_child_of_a_fork(math_file):
    task = baton.load(math_file, device="local-task?workers=2")
    add(task)
    assert "opened before this process was forked" in in_child(task, add)
    assert in_child(baton.load(math_file, device="local-sync"), add) == "3.0"
    assert in_child(math_file, lambda path: add(baton.load(path, device="local-task?workers=2"))) == "3.0"
    assert add(task) == "3.0"


SCRIPT = """
import numpy as np, baton, sys, threading
program = baton.load(sys.argv[1], device=sys.argv[2])
kept = program.add(np.ones(10, np.float32), np.ones(10, np.float32))
array = np.asarray(kept)
class AtEnd:
    def __del__(self): program.add(np.ones(10, np.float32), np.ones(10, np.float32))
at_end = AtEnd()
thread = threading.Thread(target=lambda: [program.add(array, array) for _ in range(2000)], daemon=True)
thread.start()
if sys.argv[3] == "raise": raise SystemExit(3)
"""


@pytest.mark.parametrize("end", ["return", "raise"])
@pytest.mark.parametrize("device", ["local-sync", "local-task"])
def test_python_ends_in_the_midst_of_it(math_file, device, end):
    done = subprocess.run([sys.executable, "-c", SCRIPT, math_file, device, end], capture_output=True, text=True,
                          timeout=60, check=False)
    assert done.returncode == (3 if end == "raise" else 0), (done.returncode, done.stderr)


def spawned(path, results):
    results.put(add(baton.load(path, device="local-task?workers=2")))


def test_spawned_children(math_file):
    context = multiprocessing.get_context("spawn")
    results = context.Queue()
    child = context.Process(target=spawned, args=(math_file, results))
    child.start()
    assert results.get(timeout=60) == "3.0"
    child.join()
    assert child.exitcode == 0


def test_a_device_is_the_same_while_anything_holds_it(math_file, device):
    tensor = baton.device(device).tensor(np.ones(4, np.float32))
    gc.collect()
    assert baton.device(device) == tensor.device
    program = baton.load(math_file, device=device)
    assert program._native.devices == [tensor.device]
    uri = f"{device}?workers=1" if device == "local-task" else device
    held = baton.load(math_file, device=uri)
    gc.collect()
    assert baton.device(uri) == held._native.devices[0]
    assert (baton.device(uri) == tensor.device) == (uri == device)
