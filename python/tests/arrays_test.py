"""Arrays in and out: every element type, layout and rank of every framework that is here."""
import numpy as np
import pytest

import baton

ml_dtypes = pytest.importorskip("ml_dtypes", reason="bfloat16 of NumPy is of ml_dtypes, which is not installed")
NUMPY_TYPES = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32",
               "float64", "complex64", "complex128", "bfloat16"]
SHAPES = [(), (1,), (5,), (0,), (2, 3), (3, 0, 2), (2, 3, 4), (1, 2, 1, 2, 1)]


def numpy_type(name):
    return np.dtype(ml_dtypes.bfloat16) if name == "bfloat16" else np.dtype(name)


def numbers(shape, name):
    count = int(np.prod(shape))
    return (np.arange(count) % 2 if name == "bool" else np.arange(count)).astype(numpy_type(name)).reshape(shape)


def dense(array):
    return array


def transposed(array):
    return np.asfortranarray(array) if array.ndim > 1 else array


def strided(array):
    wide = np.zeros((*array.shape[:-1], 2 * array.shape[-1]), array.dtype)
    wide[..., ::2] = array
    return wide[..., ::2]


def reversed_(array):
    return np.ascontiguousarray(array[::-1])[::-1]


def broadcast(array):
    return np.broadcast_to(array[:1], array.shape)


def misaligned(array):
    memory = np.zeros(array.nbytes + 1, np.uint8)
    moved = memory[1:].view(array.dtype).reshape(array.shape)
    moved[...] = array
    return moved


def read_only(array):
    array.flags.writeable = False
    return array


LAYOUTS = [dense, transposed, strided, reversed_, broadcast, misaligned, read_only]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", NUMPY_TYPES)
def test_numpy_arrays_come_back_as_they_went(host, name, layout):
    for shape in SHAPES:
        if not shape and layout is not dense:
            continue
        array = layout(numbers(shape, name))
        tensor = host.same(array)
        assert tensor.shape == shape and tensor.dtype == array.dtype
        np.testing.assert_array_equal(np.asarray(tensor), array)


@pytest.mark.parametrize("name", NUMPY_TYPES)
def test_dense_arrays_are_not_copied(host, name):
    array = numbers((2, 3), name)
    tensor = host.same(array)
    assert np.shares_memory(np.asarray(tensor), array)


@pytest.mark.parametrize("layout", [strided, reversed_, broadcast])
def test_what_is_not_dense_is_copied_and_may_only_be_read(host, layout):
    array = layout(numbers((2, 4), "float32"))
    tensor = host.same(array)
    assert not np.shares_memory(np.asarray(tensor), array)
    assert not np.asarray(tensor).flags.writeable


def test_read_only_arrays_stay_read_only(host):
    assert not np.asarray(host.same(read_only(numbers((4,), "int32")))).flags.writeable
    assert np.asarray(host.same(numbers((4,), "int32"))).flags.writeable


@pytest.mark.parametrize("order", [">i4", ">f8", ">u2"])
def test_the_byte_order_of_other_machines_is_refused(host, order):
    with pytest.raises(TypeError, match="byte order of other machines.*\n.*argument 1"):
        host.same(np.arange(4).astype(order))


@pytest.mark.parametrize("name", ["int4", "uint4", "float8_e4m3fn", "int2"])
def test_element_types_that_tensors_do_not_have_are_refused(host, name):
    if not hasattr(ml_dtypes, name):
        pytest.skip(f"this ml_dtypes has no {name}")
    with pytest.raises(TypeError, match=f"element type {name} is none that tensors have"):
        host.same(np.ones(4, getattr(ml_dtypes, name)))


@pytest.mark.parametrize("value", ["text", b"bytes", bytearray(4), object(), {}, np.array(["a"]), np.array([None]),
                                   np.array([(1, 2)], dtype="i4,i4"), np.zeros(2, "M8[s]"),
                                   np.longdouble(1), np.ones(2, np.longdouble), np.ones(2, np.clongdouble)])
def test_what_is_no_tensor_is_refused(host, value):
    with pytest.raises(TypeError):
        host.same(value)


def test_numbers_and_lists_take_the_type_that_the_function_declares(math):
    assert float(math.scalar(2)) == 4.0
    assert float(math.scalar(np.float32(1.5))) == 3.0
    assert np.asarray(math.both([[1, 2, 3], [4, 5, 6]], 7)[0]).tolist() == [[2, 4, 6], [8, 10, 12]]
    with pytest.raises(TypeError, match="complex128 elements where f32 is wanted"):
        math.scalar(2j)


UNSIGNED = """
func.func @ui8(%x: tensor<?xui8>, %n: ui8) -> (tensor<?xui8>, ui8) { return %x, %n : tensor<?xui8>, ui8 }
func.func @ui16(%x: tensor<?xui16>, %n: ui16) -> (tensor<?xui16>, ui16) { return %x, %n : tensor<?xui16>, ui16 }
func.func @ui32(%x: tensor<?xui32>, %n: ui32) -> (tensor<?xui32>, ui32) { return %x, %n : tensor<?xui32>, ui32 }
func.func @ui64(%x: tensor<?xui64>, %n: ui64) -> (tensor<?xui64>, ui64) { return %x, %n : tensor<?xui64>, ui64 }
func.func @si8(%x: tensor<?xsi8>, %n: si8) -> (tensor<?xsi8>, si8) { return %x, %n : tensor<?xsi8>, si8 }
func.func @si16(%x: tensor<?xsi16>, %n: si16) -> (tensor<?xsi16>, si16) { return %x, %n : tensor<?xsi16>, si16 }
func.func @encoded(%x: tensor<?xi8> {iree.abi.encoding = tensor<?xui8>}) -> (tensor<?xi8> {iree.abi.encoding = tensor<?xui8>}) {
  return %x : tensor<?xi8>
}
"""


@pytest.fixture(scope="session")
def unsigned():
    return baton.load(baton.compile(UNSIGNED), device="local-sync")


@pytest.mark.parametrize("name", ["ui8", "ui16", "ui32", "ui64", "si8", "si16"])
def test_integers_that_say_their_sign(unsigned, name):
    """A program's declaration says what its caller sees, so lists become it, and numbers keep their sign."""
    dtype = np.dtype(name.replace("ui", "uint").replace("si", "int"))
    least, most = int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)
    function = unsigned[name]
    assert f"tensor<?x{name}>, %input1: {name}" in function.declaration
    for values, number in (([least, 1, most], most), (np.array([most, 0], dtype), least)):
        tensor, back = function(values, number)
        assert np.asarray(tensor).dtype == dtype and tensor.tolist() == list(values) and back == number
    for wrong in (least - 1, most + 1):
        with pytest.raises(OverflowError):
            function([wrong], 0)
        with pytest.raises(OverflowError, match=f"is no {name}"):
            function([0], wrong)
    with pytest.raises(TypeError):
        function([0], 1.5)


def test_an_encoding_is_what_a_caller_sees(unsigned):
    assert np.asarray(unsigned.encoded([0, 255])).tolist() == [0, 255]


def test_bfloat16(math):
    array = np.arange(4).astype(ml_dtypes.bfloat16)
    np.testing.assert_array_equal(np.asarray(math.half(array)), array + array)
    np.testing.assert_array_equal(math.half([0, 1, 2, 3]).numpy(), array + array)


def test_shapes_and_types_are_checked_by_the_program(math):
    with pytest.raises(baton.InvalidArgumentError):
        math.fma(np.ones(5, np.float32), np.ones(4, np.float32), np.ones(4, np.float32))
    with pytest.raises(baton.InvalidArgumentError):
        math.fma(np.ones(4, np.float64), np.ones(4, np.float32), np.ones(4, np.float32))


def test_memoryviews_and_arrays_of_the_standard_library(host):
    import array
    np.testing.assert_array_equal(np.asarray(host.same(array.array("d", [1, 2]))), [1, 2])
    np.testing.assert_array_equal(np.asarray(host.same(memoryview(np.arange(6, dtype=np.int16).reshape(2, 3)))),
                                  np.arange(6).reshape(2, 3))


def test_tensors_are_given_on_in_place(host, math):
    first = math.add(np.ones(3, np.float32), np.ones(3, np.float32))
    second = math.add(first, first)
    np.testing.assert_array_equal(np.asarray(second), [4, 4, 4])
    assert np.shares_memory(np.asarray(host.same(first)), np.asarray(first))


@pytest.mark.parametrize("name", [name for name in NUMPY_TYPES])
def test_jax(host, name):
    jax = pytest.importorskip("jax", reason="JAX is not installed")
    jax.config.update("jax_platforms", "cpu")
    jax.config.update("jax_enable_x64", True)
    for shape in SHAPES:
        array = jax.numpy.asarray(numbers(shape, name))
        tensor = host.same(array)
        np.testing.assert_array_equal(np.asarray(tensor), np.asarray(array))
        assert tensor.shape == shape
        if name not in ("bfloat16",):
            assert not np.asarray(tensor).flags.writeable  # JAX's arrays never change.


@pytest.mark.parametrize("name", [name for name in NUMPY_TYPES])
def test_jax_takes_tensors(math, host, name):
    jax = pytest.importorskip("jax", reason="JAX is not installed")
    jax.config.update("jax_enable_x64", True)
    for shape in SHAPES:
        tensor = host.same(numbers(shape, name))
        np.testing.assert_array_equal(np.asarray(jax.numpy.from_dlpack(tensor)), numbers(shape, name))


@pytest.mark.parametrize("name", [name for name in NUMPY_TYPES])
def test_torch(host, name):
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    kind = getattr(torch, name, None)
    if kind is None:
        pytest.skip(f"this PyTorch has no {name}")
    for shape in SHAPES:
        tensor = torch.arange(int(np.prod(shape))).reshape(shape).to(kind)
        back = torch.from_dlpack(host.same(tensor))
        assert torch.equal(back, tensor) and back.data_ptr() == tensor.data_ptr()
        if tensor.ndim == 2:
            assert torch.equal(torch.from_dlpack(host.same(tensor.T)), tensor.T.contiguous())


def test_numpy_takes_tensors_by_dlpack(host):
    array = np.arange(6, dtype=np.float32).reshape(2, 3)
    assert np.shares_memory(np.from_dlpack(host.same(array)), array)
    tensor = host.same(array)
    assert tensor.__dlpack_device__() == (1, 0)
    with pytest.raises(BufferError):
        tensor.__dlpack__(copy=True)
    with pytest.raises(BufferError):
        tensor.__dlpack__(dl_device=(2, 0))


def test_a_capsule_that_nobody_takes_is_dropped(host):
    for version in (None, (1, 0)):
        for _ in range(100):
            host.same(np.ones(1000, np.float32)).__dlpack__(max_version=version)


def test_what_a_tensor_says_of_itself(math):
    tensor, number = math.both(np.ones((2, 3), np.float32), 1)
    assert (tensor.shape, tensor.ndim, tensor.size, tensor.nbytes, len(tensor)) == ((2, 3), 2, 6, 24, 2)
    assert (tensor.element_type, tensor.dtype, number) == ("f32", np.float32, 2)
    assert tensor.tolist() == [[2, 2, 2], [2, 2, 2]]
    assert "2x3xf32 on local" in repr(tensor)
    with pytest.raises(TypeError):
        len(math.scalar(1.0))


def test_writing_to_a_read_only_array_is_refused_by_name(folder, device):
    source = """
module @writer
import @hal.buffer_view.buffer(hal.buffer_view) -> hal.buffer
import @hal.buffer.store(hal.buffer, i64, i32, i64)
export func @write(%t: hal.buffer_view) {
  call.import @hal.buffer_view.buffer, %v0, %r0
  const.i64 %v0, 0
  const.i32 %v1, 4
  const.i64 %v2, 7
  call.import @hal.buffer.store, %v0, %r0
  return
}
"""
    from conftest import assembled
    program = baton.load(assembled(folder, "writer", source), device=device)
    array = np.zeros(2, np.int32)
    program.write(array)
    assert array.tolist() == [7, 0]  # In place.
    for refused in (read_only(np.zeros(2, np.int32)), np.zeros(4, np.int32)[::2]):
        with pytest.raises(baton.StatusError):
            program.write(refused)
