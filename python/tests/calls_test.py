"""Calls: numbers, lists, blobs, several results, limits, errors, attributes of programs."""
import pickle

import numpy as np
import pytest

import baton
from conftest import HOST, app, assembled


def test_numbers_keep_their_types(host):
    assert host.number(-2**31, 2**63 - 1, 1.5, 1e300) == (-2**31, 2**63 - 1, 1.5, 1e300)
    assert host.number(np.int64(5), np.int32(6), np.float64(0.5), 3) == (5, 6, 0.5, 3.0)
    assert host.number(True, False, 1, 2) == (1, 0, 1.0, 2.0)


@pytest.mark.parametrize("numbers", [(2**31, 0, 0, 0), (-2**31 - 1, 0, 0, 0), (0, 2**63, 0, 0), (0, 0, 1e39, 0)])
def test_numbers_that_do_not_fit_are_refused(host, numbers):
    with pytest.raises(OverflowError, match="argument [1-3] of "):
        host.number(*numbers)


@pytest.mark.parametrize("numbers", [(1.0, 0, 0, 0), ("1", 0, 0, 0), (0, None, 0, 0), (0, 0, "x", 0), (0, 0, 0, [])])
def test_numbers_of_another_kind_are_refused(host, numbers):
    with pytest.raises(TypeError, match="argument [1-4] of "):
        host.number(*numbers)


def test_infinities_and_nans_pass(host):
    assert host.number(0, 0, float("inf"), float("-inf"))[2:] == (float("inf"), float("-inf"))
    assert np.isnan(host.number(0, 0, float("nan"), float("nan"))[2:]).all()


def test_lists(host):
    array = np.ones(3, np.float32)
    back = host.list([1, 2.5, True, np.int32(7), np.float32(0.5), array, [b"in", ()], None])
    assert back[:5] == [1, 2.5, 1, 7, 0.5]
    assert np.shares_memory(np.asarray(back[5]), array)
    assert back[6:] == [[b"in", []], None]
    with pytest.raises(TypeError):
        host.list(5)
    endless = []
    endless.append(endless)
    with pytest.raises(RecursionError):
        host.list(endless)


def test_blobs(host):
    assert host.blob(b"bytes") == b"bytes"
    assert host.blob(bytearray(b"")) == b""
    assert host.blob(memoryview(b"12345")[1:3]) == b"23"
    assert host.blob(None) is None
    with pytest.raises(TypeError):
        host.blob("text")


def test_counts_and_names_of_arguments(host):
    with pytest.raises(TypeError, match="takes 1 arguments, and 2 were given"):
        host.same(1, 2)
    with pytest.raises(TypeError, match="by place, not by name"):
        host.same(t=1)


def test_exports_are_attributes_and_items(host):
    assert host.same is host.same
    assert host["same"].name == "same" and host["host.same"].signature == "r<hal.buffer_view>_r<hal.buffer_view>"
    assert "same" in dir(host)
    with pytest.raises(AttributeError, match="exports no 'absent'; it exports: blob, list"):
        host.absent  # noqa: B018
    with pytest.raises(baton.NotFoundError):
        host["absent"]
    assert not hasattr(host, "absent")


def test_declarations(math):
    assert math.add.declaration == "sync func @add(%input0: tensor<?xf32>, %input1: tensor<?xf32>) -> (%output0: tensor<?xf32>)"


def test_results_come_one_by_one_or_as_a_tuple(math, host):
    assert isinstance(math.add([1, 2], [3, 4]), baton.Tensor)
    assert isinstance(math.both(np.ones((2, 3), np.float32), 0), tuple)
    assert host.nothing() is None


def test_limits(host_file, folder):
    limited = baton.load(host_file, device="local-sync", modules=[app()], timeout=0.05)
    with pytest.raises(TimeoutError) as raised:
        limited.loop()
    assert raised.value.code == "DEADLINE_EXCEEDED" and "host.loop" in str(raised.value)
    counted = baton.load(host_file, device="local-sync", modules=[app()], max_instructions=1000)
    for _ in range(3):
        with pytest.raises(baton.ResourceExhaustedError, match="budget"):
            counted.loop()
    assert counted.nothing() is None  # Each call has a budget of its own.
    again = iter([0, 1])
    setup = assembled(folder, "setup", """
      module @setup
      import @app.again() -> i32
      initializer @setup
      func @setup() {
        call.import @app.again, %v0, %r0
      again:
        br.if %v0, again
        return
      }""")
    counted = baton.load(setup, device=None, modules=[baton.module("app", {"again": lambda: next(again)})], max_instructions=1000)
    with pytest.raises(baton.ResourceExhaustedError, match="budget"):
        counted.copy()  # Whose initializers are calls, too.
    with pytest.raises(ValueError):
        baton.load(host_file, device="local-sync", modules=[app()], timeout=0)
    for endless in (float("inf"), 1e300, 10**400, 2**62):
        baton.load(host_file, device="local-sync", modules=[app()], timeout=endless).nothing()


def test_functions_with_fences_give_results_that_are_not_there_yet(async_file, device):
    program = baton.load(async_file, device=device)
    assert program.twice.is_async
    tensor = program.twice(np.arange(1000, dtype=np.float32))
    again = program.twice(tensor)  # Waits on the device, not here.
    np.testing.assert_array_equal(np.asarray(again), 4 * np.arange(1000, dtype=np.float32))
    tensor.wait()
    assert tensor.is_ready
    np.testing.assert_array_equal(np.from_dlpack(program.twice([1.0])), [2])


def test_errors_have_codes_and_places(folder, device):
    from conftest import compiled
    source = """func.func @pick(%x: tensor<4xf32>, %i: index) -> f32 {
  %picked = tensor.extract %x[%i] : tensor<4xf32>
  return %picked : f32
}
"""
    program = baton.load(compiled(folder, "pick", source), device=device)
    with pytest.raises(baton.StatusError) as raised:
        program.pick([1, 2, 3, 4], 9)
    error = raised.value
    assert isinstance(error, IndexError) and error.code == "OUT_OF_RANGE"
    assert any("<stdin>:2" in place for place in error.locations), str(error)
    copied = pickle.loads(pickle.dumps(error))
    assert (copied.code, str(copied)) == (error.code, str(error))


def test_what_cannot_be_loaded(tmp_path, host_file):
    with pytest.raises(baton.NotFoundError):
        baton.load(tmp_path / "absent.bvm")
    (tmp_path / "bad.bvm").write_bytes(b"no module")
    with pytest.raises(baton.StatusError, match="bad.bvm"):
        baton.load(tmp_path / "bad.bvm")
    with pytest.raises(baton.StatusError, match="local-sinc|'sinc'"):
        baton.load(host_file, device="local-sinc", modules=[app()])
    with pytest.raises(baton.StatusError, match="app.number"):
        baton.load(host_file, device="local-sync")


@pytest.mark.parametrize("options, error, sentence", [
    ({"modules": 3}, TypeError, "modules= takes one or a list of them"), ({"parameters": 3}, TypeError, "parameters= takes a file, a list"),
    ({"parameters": {"a": 3}}, TypeError, "parameters= takes a file, a list"), ({"timeout": "2s"}, TypeError, "a number of seconds"),
    ({"timeout": float("nan")}, ValueError, "leaves no time"), ({"max_instructions": -1}, ValueError, "max_instructions=-1 is not between"),
    ({"max_instructions": 1.5}, TypeError, "max_instructions is an int"), ({"max_instructions": 2**70}, ValueError, "is not between")])
def test_options_that_cannot_be(host_file, options, error, sentence):
    with pytest.raises(error, match=sentence):
        baton.load(host_file, **{"device": "local-sync", **options})


def test_a_program_without_the_device_that_it_wants(math_file, host):
    with pytest.raises(baton.NotFoundError) as caught:
        baton.load(math_file, device=None)
    assert "device=None gives the program no device" in caught.value.__notes__[0]
    with pytest.raises(TypeError, match="a function is named by a text"):
        host[0]
    with pytest.raises(TypeError, match="not iterable"):
        list(host)


@pytest.mark.parametrize("source, options, sentence", [(3, {}, "its text, or the path of a file, not an int"), (None, {}, "not None"),
                                                       ("module {}", {"flags": 3}, "flags= takes one or a list"),
                                                       ("module {}", {"timeout": "2s"}, "a number of seconds")])
def test_what_cannot_be_compiled(source, options, sentence):
    with pytest.raises(TypeError, match=sentence):
        baton.compile(source, **options)
    with pytest.raises(baton.InvalidArgumentError, match="no flag --nope"):
        baton.compile("module {}", flags="--nope")


def test_bytes_are_loaded_as_files_are(host_file):
    program = baton.load(host_file.read_bytes(), device="local-sync", modules=[app()])
    assert program.blob(b"x") == b"x"


def test_a_copy_has_a_state_of_its_own(folder):
    source = """
module @counter
global @count : i32
export func @next() -> i32 {
  global.get %v0, @count
  const.i32 %v1, 1
  add.i32 %v0, %v0, %v1
  global.set %v0, @count
  return.value %v0
}
"""
    program = baton.load(assembled(folder, "counter", source), device=None)
    assert [program.next(), program.next()] == [1, 2]
    assert program.copy().next() == 1
    assert program.next() == 3


def test_devices():
    found = baton.devices()
    assert {"local-sync", "local-task", "null"} <= {info.uri for info in found}
    assert next(info for info in found if info.uri == "local-task").facts["workers"] >= 1
    device = baton.device("local-task?workers=2")
    assert baton.device("local-task?workers=2") is device
    assert device.name == "local-task" and device.memory_use[0] >= 0
    device.wait()
    assert device.query("hal.dispatch", "concurrency") == 2
    with pytest.raises(baton.StatusError):
        baton.device("teapot")


def test_programs_share_a_device(host_file, math_file):
    device = baton.device("local-task")
    first = baton.load(host_file, device=device, modules=[app()])
    second = baton.load(math_file, device=[device])
    tensor = second.add([1.0], [2.0])
    assert tensor.device == device
    assert np.asarray(first.same(tensor)).tolist() == [3]


def test_tensors_go_to_another_device(math_file, host_file):
    tensor = baton.load(math_file, device="local-sync").add([1.0], [2.0])
    other = baton.load(host_file, device="local-task?workers=3", modules=[app()])
    assert np.asarray(other.same(tensor)).tolist() == [3]


def test_the_null_device_runs_nothing(math_file):
    program = baton.load(math_file, device="null")
    assert program.add([1.0, 2.0], [3.0, 4.0]).shape == (2,)


def test_host_text_is_what_the_tests_say():
    assert HOST.count("export func") == 7
