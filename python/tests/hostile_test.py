"""Objects that lie, raise or hold themselves, wherever Baton takes one: each ends in an exception of Python, and the same
program computes afterwards. What a crash would end stands here, so that it ends this process and nobody's."""
import copy
import ctypes
import gc
import pickle
import sys
import threading

import numpy as np
import pytest

import baton
from baton import _baton
from conftest import app, assembled
from exchange_test import DELETER, NEW_CAPSULE, SET_ERROR, DLDevice, DLManaged, DLTensor, Table, changed, handed_out, producer, table
from modules_test import Oops, command_file, run_command

__all__ = ["command_file", "handed_out", "table"]  # Fixtures.


class Foreign:
    """An object that answers DLPack's two questions with whatever it was given; an exception is raised."""

    def __init__(self, place, capsule=None):
        self.place, self.capsule = place, capsule

    @staticmethod
    def answer(given, **wishes):
        if isinstance(given, BaseException):
            raise given
        return given(**wishes) if callable(given) else given

    def __dlpack_device__(self):
        return self.answer(self.place)

    def __dlpack__(self, **wishes):
        return self.answer(self.capsule, **wishes)


def still_computes(host):
    assert host.same(np.arange(3, dtype=np.int32)).tolist() == [0, 1, 2]


# ---- DLPack ----------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("place", [None, "x", (), 5, ("a", "b"), (1.0, 0), (None, 0), (1 << 40, 0), (-1, 0), (0, 0), (77, 0),
                                   ValueError("no"), MemoryError(), RecursionError()])
def test_a_device_that_is_none(host, place):
    with pytest.raises((TypeError, ValueError, IndexError, OverflowError, baton.StatusError, MemoryError, RecursionError)):
        host.same(Foreign(place, None))
    still_computes(host)


def empty_capsule(name):
    nowhere = ctypes.c_char()
    return NEW_CAPSULE(ctypes.addressof(nowhere), name, None)


@pytest.mark.parametrize("capsule", [None, 5, b"bytes", object(), np.ones(3), empty_capsule(b"used_dltensor"), empty_capsule(b"other"),
                                     ValueError("no"), TypeError("no"), BufferError("no")])
def test_a_capsule_that_is_none(host, capsule):
    with pytest.raises((TypeError, ValueError, BufferError)):
        host.same(Foreign((1, 0), capsule))
    still_computes(host)


@pytest.mark.parametrize("stop", [KeyboardInterrupt, SystemExit])
@pytest.mark.parametrize("at", ["place", "capsule"])
def test_what_ends_python_goes_through_a_conversion(host, stop, at):
    with pytest.raises(stop):
        host.same(Foreign(stop() if at == "place" else (1, 0), stop()))


def test_every_element_type_is_taken_whole_or_refused(host):
    """By its code, its bits and its lanes: what is taken has as many bytes as its elements say."""
    taken = set()
    for code in range(20):
        for bits in (0, 1, 2, 4, 6, 7, 8, 12, 16, 24, 32, 64, 80, 128, 255):
            for lanes in (0, 1, 2, 65535):
                Produced, _ = producer([], change=changed(code=code, bits=bits, lanes=lanes))
                try:
                    tensor = host.same(Produced(np.zeros(8, np.complex128)))
                except baton.UnimplementedError:
                    continue
                assert lanes == 1 and 8 * tensor.nbytes == 8 * bits
                taken.add(tensor.element_type)
    assert taken == {"i8", "i16", "i32", "i64", "ui8", "ui16", "ui32", "ui64", "f16", "f32", "f64", "bf16", "complex<f32>",
                     "complex<f64>", "i1"}


def shaped(*extents, strides=None):
    def change(managed):
        shape = (ctypes.c_int64 * len(extents))(*extents)
        managed.kept = [shape]
        managed.tensor.rank, managed.tensor.shape = len(extents), shape
        managed.tensor.strides = None
        if strides:
            managed.kept.append((ctypes.c_int64 * len(strides))(*strides))
            managed.tensor.strides = managed.kept[1]
    return change


@pytest.mark.parametrize("extents", [(-1,), (-1, 0), (0, -1), (1 << 62,), (1 << 58,), (1 << 32, 1 << 32), (1 << 62, 0), ((1 << 63) - 1, 2)])
@pytest.mark.parametrize("strides", [None, 1, 0, -1])
def test_shapes_that_cannot_be(host, extents, strides):
    given = []
    Produced, _ = producer(given, change=shaped(*extents, strides=strides and [strides] * len(extents)))
    with pytest.raises(baton.InvalidArgumentError, match="extent"):
        host.same(Produced(np.ones(4, np.float32)))
    gc.collect()
    assert given == ["handed out", "destroyed"]


@pytest.mark.parametrize("strides", [(0, 1), (-2, 1), (1, 2), (1 << 62, 1), (-(1 << 63), -(1 << 63))])
def test_strides_that_are_not_dense_are_never_read_as_if_they_were(host, strides):
    Produced, _ = producer([], change=shaped(2, 2, strides=strides))
    with pytest.raises(TypeError):  # It has no other protocol that would make a copy.
        host.same(Produced(np.ones(4, np.float32)))


@pytest.mark.parametrize("rank", [0, 1, 12, 13, 33, 65, 1000])
def test_ranks(host, rank):
    Produced, _ = producer([], change=shaped(*[1] * rank, strides=[1] * rank))
    tensor = host.same(Produced(np.ones(1, np.float32)))
    assert tensor.shape == (1,) * rank and tensor.nbytes == 4
    capsule = tensor.__dlpack__(max_version=(1, 0))
    assert host.same(Foreign((1, 0), capsule)).shape == (1,) * rank


@pytest.mark.parametrize("offset", [1, 2, 3])
def test_elements_between_their_places_are_copied_or_refused(math, host, offset):
    def move(managed):
        managed.tensor.byte_offset = offset
        managed.tensor.shape[0] = 4

    Produced, _ = producer([], change=move)
    with pytest.raises(TypeError):
        host.same(Produced(np.ones(8, np.float32)))
    memory = np.zeros(20, np.uint8)
    array = memory[offset:offset + 16].view(np.float32)
    array[:] = 3
    Other, _ = producer([], change=lambda managed: None, __dlpack__=lambda self, **wishes: self.array.__dlpack__(**wishes),
                        __dlpack_device__=lambda self: (1, 0))
    one = np.ones(4, np.float32)
    assert math.fma(Other(array), one, one).tolist() == [4, 4, 4, 4]


def test_an_array_whose_dense_copy_is_none_either(host):
    """`contiguous()` of an object in pinned memory gives the object itself."""
    kept = []

    def capsule(**_):
        memory, shape, strides = np.arange(8, dtype=np.float32), (ctypes.c_int64 * 1)(4), (ctypes.c_int64 * 1)(2)
        managed = DLManaged(1, 3, None, DELETER(), 0, DLTensor(memory.ctypes.data, DLDevice(3, 0), 1, 2, 32, 1, shape, strides, 0))
        kept.append((managed, memory, shape, strides))
        return NEW_CAPSULE(ctypes.addressof(managed), b"dltensor_versioned", None)

    foreign = Foreign((3, 0), capsule)
    foreign.contiguous = lambda: foreign
    with pytest.raises(TypeError, match="contiguous"):
        host.same(foreign)


def test_a_capsule_is_taken_once_by_one_thread(host):
    """An object that gives all threads the same capsule: one gets the tensor, and it is destroyed once."""
    destroyed, wrong = [], []
    destroy = DELETER(lambda managed: destroyed.append(1))
    memory, shape = np.ones(4, np.float32), (ctypes.c_int64 * 1)(4)
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for _ in range(60):
            destroyed.clear()
            managed = DLManaged(1, 3, None, destroy, 0, DLTensor(memory.ctypes.data, DLDevice(1, 0), 1, 2, 32, 1, shape, None, 0))
            foreign = Foreign((1, 0), NEW_CAPSULE(ctypes.addressof(managed), b"dltensor_versioned", None))
            results, begin = [], threading.Barrier(4)

            def take():
                begin.wait()
                try:
                    results.append(host.same(foreign))
                except ValueError:
                    pass

            threads = [threading.Thread(target=take) for _ in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            count = len(results)
            results.clear()
            if count != 1 or len(destroyed) != 1:
                wrong.append((count, len(destroyed)))
    finally:
        sys.setswitchinterval(interval)
    assert not wrong


def test_a_refused_capsule_stays_its_owners(host):
    given = []

    def destroy(managed):
        given.append("destroyed")

    kept = DELETER(destroy)
    shape = (ctypes.c_int64 * 1)(4)
    managed = DLManaged(1, 3, None, kept, 0, DLTensor(None, DLDevice(1, 0), 1, 2, 32, 1, shape, None, 0))
    capsule = NEW_CAPSULE(ctypes.addressof(managed), b"dltensor_versioned", None)
    for _ in range(2):  # The same sentence both times: the capsule is as it was.
        with pytest.raises(baton.InvalidArgumentError, match="null pointer"):
            host.same(Foreign((1, 0), capsule))
    assert not given


@pytest.mark.parametrize("wish", [{"max_version": 5}, {"max_version": ()}, {"max_version": ("a", 0)}, {"max_version": (1 << 70, 0)},
                                  {"dl_device": 5}, {"dl_device": ("a",)}, {"copy": True}, {"unknown": 1}])
def test_wishes_that_cannot_be(host, wish):
    tensor = host.same(np.ones(3, np.float32))
    with pytest.raises((TypeError, IndexError, OverflowError, BufferError)):
        tensor.__dlpack__(**wish)
    assert tensor.tolist() == [1, 1, 1]


@pytest.mark.parametrize("rank,extents", [(-1, None), (-(1 << 31), None), (2, None), ((1 << 31) - 1, None)])
def test_a_table_makes_no_tensor_without_a_shape(table, rank, extents):
    said = []
    set_error = SET_ERROR(lambda context, kind, message: said.append(kind))
    out = ctypes.POINTER(DLManaged)()
    prototype = DLTensor(None, DLDevice(1, 0), rank, 2, 32, 1, extents, None, 0)
    assert table.allocate(ctypes.byref(prototype), ctypes.byref(out), None, set_error) == -1
    assert said == [b"BufferError"] and not out


# ---- The buffer protocol ---------------------------------------------------------------------------------------------

@pytest.mark.parametrize("type_,dtype", [(ctypes.c_bool, "bool"), (ctypes.c_byte, "int8"), (ctypes.c_ubyte, "uint8"), (ctypes.c_short, "int16"),
                                         (ctypes.c_int, "int32"), (ctypes.c_long, "int64"), (ctypes.c_ulonglong, "uint64"),
                                         (ctypes.c_float, "float32"), (ctypes.c_double, "float64")])
def test_arrays_of_ctypes_have_no_strides(host, type_, dtype):
    flat, deep, number = (type_ * 3)(1, 0, 1), (type_ * 2 * 3)(), type_(1)
    deep[2][1] = 1
    for given, shape in ((flat, (3,)), (deep, (3, 2)), (number, ()), ((type_ * 0)(), (0,))):
        tensor = host.same(given)
        assert tensor.shape == shape and tensor.dtype == dtype
        np.testing.assert_array_equal(tensor.numpy(), np.asarray(given))


class Nothing(ctypes.Structure):
    """No bytes, and its buffer says format "B"."""


class Pair(ctypes.Structure):
    _fields_ = [("x", ctypes.c_int), ("y", ctypes.c_float)]


@pytest.mark.parametrize("given", [(Nothing * 3)(), Nothing(), (Pair * 3)(), Pair(), (ctypes.c_char * 3)(), (ctypes.c_wchar * 3)(),
                                   (ctypes.c_longdouble * 3)(), (ctypes.c_void_p * 3)(), (ctypes.py_object * 3)(),
                                   (ctypes.c_short.__ctype_be__ * 3)(), memoryview(b"abcd").cast("c")])
def test_buffers_of_other_elements_are_refused(host, given):
    with pytest.raises(TypeError):
        host.same(given)
    still_computes(host)


# ---- Objects without contents ----------------------------------------------------------------------------------------

def types_of_baton():
    return [each for each in vars(_baton).values() if isinstance(each, type) and not issubclass(each, BaseException)]


@pytest.mark.parametrize("type_", types_of_baton(), ids=lambda type_: type_.__name__)
def test_objects_are_not_made_without_contents(type_):
    makers = [lambda: type_.__new__(type_), lambda: object.__new__(type_), lambda: copy.copy(type_.__new__(type_))]
    try:
        derived = type("Derived", (type_,), {})
        makers.append(lambda: derived.__new__(derived))
    except TypeError:
        pass  # Final.
    for make in makers:
        with pytest.raises(TypeError):
            make()


def test_objects_of_programs_are_not_copied(host):
    for one in (host.same(np.ones(3, np.float32)), host.same, host.same(np.ones(1)).device):
        for attempt in (copy.copy, copy.deepcopy, lambda given: pickle.loads(pickle.dumps(given))):
            with pytest.raises(TypeError):
                attempt(one)


# ---- Lists -----------------------------------------------------------------------------------------------------------

RINGS = """
module @rings
export func @ring() -> list {
  const.i64 %v0, 1
  list.alloc %r0, %v0
  ref.copy %r1, %r0
  list.push.ref %r0, %r1
  return
}
export func @deep(%depth: i32) -> list {
  const.i64 %v2, 1
  const.i32 %v1, 0
  list.alloc %r0, %v2
again:
  list.alloc %r1, %v2
  list.push.ref %r1, %r0
  ref.move %r0, %r1
  next.i32 %v1, %v0, again
  return
}
"""


def test_lists_of_programs_that_hold_themselves_or_have_no_end(folder):
    program = baton.load(assembled(folder, "rings", RINGS), device="local-sync")
    nested, depth = program.deep(100), 0
    while nested:
        (nested,), depth = nested, depth + 1
    assert depth == 100
    with pytest.raises(RecursionError, match="list of a program"):
        program.ring()
    with pytest.raises(RecursionError, match="list of a program"):
        program.deep(1_000_000)
    assert program.deep(1) == [[]]


class Long(list):
    def __len__(self):
        return 1 << 40


class Raises(list):
    def __iter__(self):
        raise KeyError("no")


def ring():
    one = []
    one.append(one)
    return one


def deep():
    one = []
    for _ in range(100_000):
        one = [one]
    return one


@pytest.mark.parametrize("make,error", [(ring, RecursionError), (deep, RecursionError), (lambda: Long([1, 2]), (MemoryError, TypeError)),
                                        (lambda: Raises([1]), KeyError), (lambda: (x for x in (1, 2)), TypeError),
                                        (lambda: {1: 2}, TypeError), (lambda: [1, ring()], RecursionError), (lambda: [1, object()], TypeError)])
def test_lists_that_lie(host, make, error):
    with pytest.raises(error):
        host.list(make())
    still_computes(host)


def test_a_list_that_changes_while_it_is_converted(host):
    elements = []

    class Clears:
        def __dlpack_device__(self):
            elements.clear()
            return (1, 0)

        def __dlpack__(self, **wishes):
            return np.ones(3, np.float32).__dlpack__(**wishes)

    elements[:] = [Clears(), 2, 3.0, np.ones(2)] * 50
    assert len(host.list(elements)) == 200 and not elements


# ---- Code of Python in the midst of a call ---------------------------------------------------------------------------

def test_conversions_that_call_drop_and_collect(host_file, device):
    programs = [baton.load(host_file, device=device, modules=[app()])]

    def capsule(**wishes):
        if programs:
            assert programs[0].same(np.ones(2)).shape == (2,)
            programs.clear()
            gc.collect()
        return np.full(3, 7, np.float32).__dlpack__(**wishes)

    assert programs[0].same(Foreign((1, 0), capsule)).tolist() == [7, 7, 7]


def test_a_conversion_without_end(host):
    with pytest.raises(RecursionError):
        foreign = Foreign((1, 0))
        foreign.capsule = lambda **_: host.same(foreign)
        host.same(foreign)
    still_computes(host)


class Counts(list):
    """As long as it is asked for."""

    def __len__(self):
        self.append(1)
        return super().__len__()


@pytest.mark.parametrize("wrong", [
    lambda commands, x, y: commands.fill_buffer(y, b"123456789"), lambda commands, x, y: commands.fill_buffer(y, b""),
    lambda commands, x, y: commands.copy_buffer(x, None), lambda commands, x, y: commands.dispatch(None, "f", 1, [x, y]),
    lambda commands, x, y: commands.host(None, x, y) or commands.host(5), lambda commands, x, y: commands.host(print, 5),
    lambda commands, x, y: x.part(-1, 4), lambda commands, x, y: commands.copy_buffer(x.part(1 << 63, 1 << 63), y)])
def test_commands_that_record_nonsense(command_file, device, wrong):
    def work(commands, scale, x, y):
        wrong(commands, x, y)
        commands.copy_buffer(x, y)

    with pytest.raises(baton.StatusError):
        run_command(command_file, device, work)


@pytest.mark.parametrize("grid,constants", [("x", ()), ([1, "x"], ()), ([-1], ()), (1 << 40, ()), ([1, 2, 3, 4], ()), (Counts([1, 1]), ()),
                                            (1, ["x"]), (1, [None]), (1, [1 << 70]), (1, 5), (1.5, ())])
def test_dispatches_with_nonsense(command_file, sample_folder, device, grid, constants):
    import glob
    images = {f"embedded-elf-{architecture}": open(path, "rb").read() for architecture in ("x86_64", "aarch64")
              for path in glob.glob(f"{sample_folder}/custom_command/custom_command_blas_kernels/*{architecture}*.elf")}
    if not images:
        pytest.skip("the sample's kernels are not built")

    def work(commands, scale, x, y):
        kernels = commands.device.executable(images, [("saxpy", (64, 1, 1))], name="blas")
        commands.dispatch(kernels, "saxpy", grid, [x, y], constants)

    with pytest.raises(baton.StatusError):
        run_command(command_file, device, work)


@pytest.mark.parametrize("keeps_first", [True, False])
def test_views_end_also_when_the_function_raises(command_file, device, keeps_first):
    """Also the second, when an array over the first is kept."""
    kept = []

    def work(commands, scale, x, y):
        def fail(source, target):
            kept.extend([np.asarray(source) if keeps_first else source, target])
            raise Oops("with views")

        commands.host(fail, x, y)

    with pytest.raises(baton.StatusError, match="with views"):
        run_command(command_file, device, work)
    for view in kept[1 if keeps_first else 0:]:
        with pytest.raises(ValueError, match="released"):
            bytes(view)


def test_a_compiler_that_does_not_end_is_stopped(tmp_path, monkeypatch):
    stuck = tmp_path / "baton-compile"
    stuck.write_text("#!/bin/sh\nexec sleep 600\n")
    stuck.chmod(0o755)
    monkeypatch.setenv("BATON_TOOLS", str(tmp_path))
    with pytest.raises(baton.DeadlineExceededError, match="not done after 0.2 seconds"):
        baton.compile("func.func @f() { return }", timeout=0.2)
    with pytest.raises(ValueError, match="leaves no time"):
        baton.compile("func.func @f() { return }", timeout=0)
    monkeypatch.undo()
    assert baton.compile("func.func @f() { return }", timeout=float("inf"))
