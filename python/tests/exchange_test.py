"""DLPack's C exchange API: tensors of others by the table of their type, and the table of baton.Tensor."""
import ctypes
import gc
import threading
import weakref

import numpy as np
import pytest

import baton


class DLDevice(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int32), ("id", ctypes.c_int32)]


class DLTensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device", DLDevice), ("rank", ctypes.c_int32), ("code", ctypes.c_uint8),
                ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16), ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64)]


class DLManaged(ctypes.Structure):
    pass


DELETER = ctypes.CFUNCTYPE(None, ctypes.POINTER(DLManaged))
DLManaged._fields_ = [("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("manager", ctypes.c_void_p), ("deleter", DELETER),
                      ("flags", ctypes.c_uint64), ("tensor", DLTensor)]
FROM_OBJECT = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.POINTER(ctypes.POINTER(DLManaged)))
TO_OBJECT = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.POINTER(DLManaged), ctypes.POINTER(ctypes.py_object))
SET_ERROR = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p)
ALLOCATE = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(DLTensor), ctypes.POINTER(ctypes.POINTER(DLManaged)), ctypes.c_void_p,
                            SET_ERROR)
STREAM = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_int, ctypes.c_int32, ctypes.POINTER(ctypes.c_void_p))


class Table(ctypes.Structure):
    _fields_ = [("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("older", ctypes.c_void_p), ("allocate", ALLOCATE),
                ("from_object", FROM_OBJECT), ("to_object", TO_OBJECT), ("view_object", ctypes.c_void_p), ("stream", STREAM)]


NEW_CAPSULE = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)(
    ("PyCapsule_New", ctypes.pythonapi))
POINTER_OF = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(("PyCapsule_GetPointer", ctypes.pythonapi))
CAPSULE = b"dlpack_exchange_api"
CODES = {"i": 0, "u": 1, "f": 2, "c": 5, "b": 6}
kept = []  # Tables live as long as the process.


def producer(given, *, older=None, major=1, change=lambda tensor: None, **bases):
    """A type of tensors with a table; `given` notes what was handed out and destroyed."""
    alive = {}

    @DELETER
    def destroy(managed):
        given.append("destroyed")
        alive.pop(ctypes.addressof(managed.contents))

    @FROM_OBJECT
    def from_object(tensor, out):
        array = tensor.array
        rank = array.ndim
        shape = (ctypes.c_int64 * rank)(*array.shape)
        strides = (ctypes.c_int64 * rank)(*(stride // array.itemsize for stride in array.strides))
        managed = DLManaged(1, 3, None, destroy, 0, DLTensor(
            array.ctypes.data, DLDevice(1, 0), rank, CODES[array.dtype.kind], 8 * array.itemsize, 1, shape, strides, 0))
        change(managed)
        alive[ctypes.addressof(managed)] = (managed, array, shape, strides)
        given.append("handed out")
        out[0] = ctypes.pointer(managed)
        return 0

    @STREAM
    def stream(kind, number, out):
        raise AssertionError("a tensor of the host has no stream")

    table = Table(major, 3, ctypes.addressof(older) if older else None, ALLOCATE(), from_object, TO_OBJECT(), None, stream)
    kept.extend([table, from_object, destroy, stream, alive])
    attributes = {"__init__": lambda self, array: setattr(self, "array", array),
                  "__dlpack_c_exchange_api__": NEW_CAPSULE(ctypes.addressof(table), CAPSULE, None), **bases}
    return type("Produced", (), attributes), table


def test_a_tensor_goes_in_by_its_types_table(math):
    given = []
    Produced, _ = producer(given)
    arrays = [np.full(4, number, np.float32) for number in (1, 2, 1)]
    for _ in range(3):
        assert math.fma(*map(Produced, arrays)).tolist() == [3, 3, 3, 3]
    gc.collect()
    assert given.count("handed out") == given.count("destroyed") == 9


def test_it_is_used_in_place(host, device):
    given = []
    Produced, _ = producer(given)
    array = np.arange(4, dtype=np.float32)
    result = host.same(Produced(array))
    array[0] = 7
    assert result.tolist() == [7, 1, 2, 3]
    owner = weakref.ref(array.base if array.base is not None else array)
    del array
    assert owner() is not None and given == ["handed out"]
    del result
    gc.collect()
    assert given == ["handed out", "destroyed"]


@pytest.mark.parametrize("type_", [np.int8, np.int64, np.uint16, np.float16, np.float64, np.complex64])
def test_element_types_shapes_and_nothing(host, type_):
    Produced, _ = producer([])
    for array in (np.arange(6).astype(type_).reshape(2, 3), np.zeros((0, 3), type_), np.array(3).astype(type_)):
        result = host.same(Produced(array)).numpy()
        assert result.dtype == array.dtype and result.shape == array.shape
        np.testing.assert_array_equal(result, array)


def test_an_older_table_of_a_newer_one_is_found(math):
    given = []
    _, old = producer(given)
    Newer, new = producer([], older=old, major=2)
    one = np.ones(4, np.float32)
    assert math.fma(Newer(one), one, one).tolist() == [2, 2, 2, 2]
    assert given[0] == "handed out"


def changed(**values):
    def change(managed):
        for name, value in values.items():
            setattr(managed if name in ("major", "flags") else managed.tensor, name, value)
    return change


@pytest.mark.parametrize(("change", "error"), [
    ({"rank": -1}, baton.InvalidArgumentError), ({"bits": 3}, baton.UnimplementedError), ({"lanes": 2}, baton.UnimplementedError),
    ({"code": 77}, baton.UnimplementedError), ({"major": 9}, baton.UnimplementedError),
    ({"data": None}, baton.InvalidArgumentError), ({"device": DLDevice(2, 0)}, (baton.StatusError, AssertionError)),
    ({"device": DLDevice(99, 0)}, baton.UnimplementedError)])
def test_what_a_table_hands_out_is_checked_and_given_back(math, change, error):
    given = []
    Produced, _ = producer(given, change=changed(**change))
    one = np.ones(4, np.float32)
    with pytest.raises(error):
        math.fma(Produced(one), one, one)
    gc.collect()
    assert given == ["handed out", "destroyed"]


def test_nothing_may_lie_nowhere(host):
    Produced, _ = producer([], change=changed(data=None))
    result = host.same(Produced(np.zeros((0, 3), np.float32)))
    assert np.from_dlpack(result).shape == result.numpy().shape == (0, 3)


def test_read_only_stays_read_only(host):
    Produced, _ = producer([], change=changed(flags=1))
    assert memoryview(host.same(Produced(np.ones(4, np.float32)))).readonly


def test_without_a_table_that_is_understood_dlpack_is_asked(math):
    asked = []

    def by_dlpack(self, **wishes):
        asked.append(wishes)
        return self.array.__dlpack__(**wishes)

    methods = {"__dlpack__": by_dlpack, "__dlpack_device__": lambda self: (1, 0)}
    one = np.ones(4, np.float32)
    New, _ = producer([], major=2, **methods)
    NotOne = type("NotOne", (), {"__init__": lambda self, array: setattr(self, "array", array),
                                 "__dlpack_c_exchange_api__": None, **methods})
    Fails, table = producer([], **methods)
    kept.append(FROM_OBJECT(lambda tensor, out: -1))
    table.from_object = kept[-1]
    for kind in (New, NotOne, Fails):
        asked.clear()
        assert math.fma(kind(one), one, one).tolist() == [2, 2, 2, 2]
        assert len(asked) == 1
    with pytest.raises(TypeError):
        math.fma(type("Neither", (), {"__dlpack_c_exchange_api__": 3})(), one, one)


def test_strides_are_copied(math):
    given = []
    Produced, _ = producer(given, __array__=lambda self, dtype=None, copy=None: self.array)
    wide = np.arange(8, dtype=np.float32)
    zero, one = np.zeros(4, np.float32), np.ones(4, np.float32)
    assert math.fma(Produced(wide[::2]), one, zero).tolist() == [0, 2, 4, 6]
    assert given == ["handed out", "destroyed"]


def test_threads_share_a_table(math_file):
    given = []
    Produced, _ = producer(given)
    failed = []

    def work(number):
        program = baton.load(math_file, device="local-sync")
        x = np.full(4, number, np.float32)
        for _ in range(200):
            if program.fma(Produced(x), Produced(x), Produced(x)).tolist() != [number * number + number] * 4:
                failed.append(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    gc.collect()
    assert not failed
    assert given.count("handed out") == given.count("destroyed") == 4 * 200 * 3


# ---- baton.Tensor's own ----------------------------------------------------------------------------------------------

@pytest.fixture
def table():
    return Table.from_address(POINTER_OF(baton.Tensor.__dlpack_c_exchange_api__, CAPSULE))


def handed_out(table, tensor):
    out = ctypes.POINTER(DLManaged)()
    assert table.from_object(tensor, ctypes.byref(out)) == 0
    return out


def test_a_result_goes_out_and_comes_back_by_the_table(host, table):
    assert (table.major, table.older) == (1, None)
    array = np.arange(6, dtype=np.float32).reshape(2, 3)
    result = host.same(array)
    managed = handed_out(table, result)
    tensor = managed.contents.tensor
    assert (tensor.data, tensor.device.type, tensor.rank, tensor.bits, tensor.code) == (array.ctypes.data, 1, 2, 32, 2)
    assert (tensor.shape[:2], tensor.strides[:2]) == ([2, 3], [3, 1])
    del result
    back = ctypes.py_object()
    assert table.to_object(managed, ctypes.byref(back)) == 0
    again = back.value
    assert isinstance(again, baton.Tensor)
    array[0, 0] = 9
    assert again.tolist() == [[9, 1, 2], [3, 4, 5]]
    del again
    stream = ctypes.c_void_p(1)
    assert table.stream(1, 0, ctypes.byref(stream)) == 0
    assert stream.value is None


def test_the_table_waits_for_what_is_not_there_yet(async_file, table):
    program = baton.load(async_file, device="local-task")
    managed = handed_out(table, program.twice(np.ones(1000, np.float32)))
    tensor = managed.contents.tensor
    assert (ctypes.c_float * 1000).from_address(tensor.data)[:] == [2.0] * 1000
    managed.contents.deleter(managed)


def test_the_table_refuses_what_is_no_tensor(table):
    with pytest.raises(TypeError, match="baton.Tensor"):
        table.from_object(object(), ctypes.byref(ctypes.POINTER(DLManaged)()))


def test_the_table_makes_tensors_of_the_host(table):
    said = []
    set_error = SET_ERROR(lambda context, kind, message: said.append((kind, message)))
    shape = (ctypes.c_int64 * 2)(2, 3)
    for kind, extents, expected in ((1, (2, 3), None), (1, (0, 3), None), (2, (2, 3), b"BufferError"), (1, (-1, 3), b"BufferError"),
                                    (1, (1 << 40, 1 << 40), b"BufferError"), (1, (1 << 50, 1), b"MemoryError")):
        shape[:] = extents
        prototype = DLTensor(None, DLDevice(kind, 0), 2, 2, 32, 1, shape, None, 0)
        out = ctypes.POINTER(DLManaged)()
        code = table.allocate(ctypes.byref(prototype), ctypes.byref(out), None, set_error)
        assert code == (-1 if expected else 0), extents
        if expected:
            assert said.pop()[0] == expected
        else:
            assert out.contents.tensor.data % 64 == 0 and out.contents.tensor.shape[:2] == list(extents)
            out.contents.deleter(out)


def test_a_library_takes_results_by_the_table(math):
    tvm_ffi = pytest.importorskip("tvm_ffi", reason="apache-tvm-ffi is not installed")
    one = np.ones(4, np.float32)
    result = math.fma(one, one, one)
    taken = tvm_ffi.from_dlpack(result)
    assert np.from_dlpack(taken).tolist() == [2, 2, 2, 2] and np.from_dlpack(taken).ctypes.data == result.numpy().ctypes.data
    assert math.fma(taken, taken, taken).tolist() == [6, 6, 6, 6]


def test_tensors_of_pytorch(math):
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    one, zero = torch.ones(4), torch.zeros(4)
    assert math.fma(one + 1, one, zero).tolist() == [2, 2, 2, 2]
    assert math.fma(torch.arange(8.0)[::2], one, zero).tolist() == [0, 2, 4, 6]
    negated = (torch.arange(4) * 1j).conj().imag  # Its memory holds 0, 1, 2, 3.
    assert negated.is_neg() and math.fma(negated, one, zero).tolist() == [0, -1, -2, -3]
    with pytest.raises(BufferError, match="gradient"):
        math.fma(torch.ones(4, requires_grad=True), one, zero)
    with pytest.raises((ValueError, BufferError, TypeError)):
        math.fma(torch.zeros(4, device="meta"), one, zero)


def test_conjugated_tensors_of_pytorch(host):
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    lazy = torch.tensor([1 + 2j, 3 - 4j]).conj()
    assert lazy.is_conj() and host.same(lazy).tolist() == [1 - 2j, 3 + 4j]
