"""KernelLibrary on CUDA: on streams and queues, on the machine's GPU and on the fake one of tests/support."""
import ctypes
import os
import subprocess
import sys

import numpy as np
import pytest

import baton
from conftest import assembled
from exchange_test import CAPSULE, POINTER_OF, DLDevice, DLManaged, Table, changed, handed_out, producer

# values[i] *= factor. The fake GPU has a kernel of this name and these parameters, and does not read the code.
PTX = b""".version 7.0
.target sm_75
.address_size 64
.visible .entry scale(.param .u64 values, .param .u32 count, .param .u32 factor) {
  .reg .pred %p; .reg .u32 %a, %b, %c; .reg .u64 %d, %e;
  mov.u32 %a, %ctaid.x;
  mov.u32 %b, %ntid.x;
  mov.u32 %c, %tid.x;
  mad.lo.u32 %a, %a, %b, %c;
  ld.param.u32 %b, [count];
  setp.ge.u32 %p, %a, %b;
  @%p ret;
  ld.param.u64 %d, [values];
  cvta.to.global.u64 %d, %d;
  mul.wide.u32 %e, %a, 4;
  add.u64 %d, %d, %e;
  ld.global.u32 %c, [%d];
  ld.param.u32 %b, [factor];
  mul.lo.u32 %c, %c, %b;
  st.global.u32 [%d], %c;
  ret;
}
"""
COUNT = 100
NUMBERS = np.arange(COUNT, dtype=np.uint32)


def has_cuda():
    return any((info.uri or "").startswith("cuda") for info in baton.devices())


def test_all_of_it_on_the_fake_gpu():
    environment = dict(os.environ)
    folder = environment.pop("BATON_FAKE_CUDA", None)  # The tests inside do not start others, whatever the folder holds.
    if has_cuda():
        pytest.skip("the other tests run on this machine's GPU, or are run on the fake one")
    if not folder:
        pytest.skip("BATON_FAKE_CUDA does not name the folder of the fake libcuda.so.1")
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider", __file__], check=False,
                          capture_output=True, text=True, env={**environment, "LD_LIBRARY_PATH": folder})
    assert done.returncode == 0 and " passed" in done.stdout, done.stdout + done.stderr
    assert "no CUDA device" not in done.stdout, done.stdout


@pytest.fixture(scope="module")
def gpu():
    if not has_cuda():
        reasons = [info.facts.get("unavailable") for info in baton.devices() if info.description == "cuda"]
        pytest.skip(f"there is no CUDA device: {reasons}")
    return baton.device("cuda")


@pytest.fixture(scope="module")
def scale(gpu):
    return baton.KernelLibrary({"cuda-ptx": PTX})["scale"]


@pytest.fixture
def values(gpu):
    return gpu.tensor(NUMBERS)


class Interface:
    """What older libraries offer: memory of a tensor, which it keeps."""

    def __init__(self, tensor, **changes):
        self.kept = handed_out(Table.from_address(POINTER_OF(baton.Tensor.__dlpack_c_exchange_api__, CAPSULE)), tensor)
        address = self.kept.contents.tensor.data
        self.__cuda_array_interface__ = {"shape": tensor.shape, "typestr": "<u4", "data": (address, False), "version": 3, **changes}

    def address(self):
        return self.__cuda_array_interface__["data"][0]


def test_the_code_says_its_parameters(scale):
    assert scale.parameter_sizes == (8, 4, 4)
    found = scale.occupancy(64)
    assert set(found) == {"workgroups_per_multiprocessor", "multiprocessors", "block_for_most"} and found["multiprocessors"] > 0


def test_on_the_queue_of_a_device(scale, gpu, values):
    scale.launch(2, 64, values, COUNT, 3)
    scale.launch(2, 64, values, COUNT, 2, device=gpu, wait=False)
    gpu.wait()
    np.testing.assert_array_equal(values.numpy(), 6 * NUMBERS)


@pytest.mark.parametrize("stream", [1, np.int64(2).item(), 0])
def test_on_a_stream_in_order_with_tensors_of_baton(scale, values, stream):
    scale.launch((2, 1), (64,), values, COUNT, 3, stream=stream)
    scale.launch(2, 64, values, COUNT, 2)  # The device comes after the stream.
    np.testing.assert_array_equal(values.numpy(), 6 * NUMBERS)


def test_streams_of_other_libraries(scale, values):
    for stream in (type("Torch", (), {"cuda_stream": 1})(), type("CuPy", (), {"ptr": 1})(),
                   type("Core", (), {"__cuda_stream__": lambda self: (0, 1)})()):
        scale.launch(2, 64, values, COUNT, 2, stream=stream)
    np.testing.assert_array_equal(values.numpy(), 8 * NUMBERS)


def test_addresses_and_their_interface(scale, gpu, values):
    array = Interface(values)
    scale.launch(2, 64, array, np.uint32(COUNT), ctypes.c_uint32(3), stream=1)
    scale.launch(2, 64, array.address(), COUNT, 2, stream=1)
    np.testing.assert_array_equal(gpu.tensor(values).numpy(), 6 * NUMBERS)
    with pytest.raises(TypeError, match="dense"):
        scale.launch(2, 64, Interface(values, strides=(8,)), COUNT, 3, stream=1)


def test_tensors_with_a_table_say_their_stream(scale, gpu, values):
    streams = []

    def on_gpu(managed):
        managed.tensor.device = DLDevice(2, 0)
        managed.tensor.data = Interface(values).address()

    given = []
    Produced, table = producer(given, change=on_gpu)

    def current(kind, number, out):
        streams.append((kind, number))
        out[0] = 1
        return 0

    kept = type(table.stream)(current)
    table.stream = kept
    scale.launch(2, 64, Produced(NUMBERS), COUNT, 5)
    assert streams == [(2, 0)] and given == ["handed out", "destroyed"] * 2
    np.testing.assert_array_equal(gpu.tensor(values).numpy(), 5 * NUMBERS)


def test_pytorch_on_its_current_stream(scale):
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    if not torch.cuda.is_available():
        pytest.skip("this PyTorch has no CUDA")
    for stream in (torch.cuda.current_stream(), torch.cuda.Stream()):
        with torch.cuda.stream(stream):
            x = torch.arange(COUNT, device="cuda", dtype=torch.int32)
            for _ in range(20):
                x = x + 1
            scale.launch(2, 64, x, COUNT, 3)
            assert (x + 1).tolist() == [3 * (number + 20) + 1 for number in range(COUNT)]
            scale.launch(2, 64, x, COUNT, 2, stream=stream)
            assert x.tolist() == [6 * (number + 20) for number in range(COUNT)]
    graph, x = torch.cuda.CUDAGraph(), torch.ones(COUNT, device="cuda", dtype=torch.int32)
    with torch.cuda.graph(graph):
        scale.launch(2, 64, x, COUNT, 3)
    for _ in range(3):
        graph.replay()
    assert x.tolist() == [27] * COUNT


@pytest.mark.parametrize("place", [{"stream": 1}, {"device": "cuda"}])
@pytest.mark.parametrize(("arguments", "error", "text"), [
    (lambda x: (x, COUNT), ValueError, "takes 3 parameters"),
    (lambda x: (x, np.int64(COUNT), 3), ValueError, "8, 8, 4"),
    (lambda x: (x, 1 << 32, 3), OverflowError, "argument 2 of kernel 'scale'"),
    (lambda x: (x, -(1 << 31) - 1, 3), OverflowError, "argument 2"),
    (lambda x: (NUMBERS, COUNT, 3), TypeError, "argument 1"),
    (lambda x: ([1], COUNT, 3), TypeError, "argument 1"),
    (lambda x: (changed, COUNT, 3), TypeError, "argument 1")])
def test_wrong_arguments_are_a_sentence(scale, values, place, arguments, error, text):
    with pytest.raises(error, match=text):
        scale.launch(2, 64, *arguments(values), **place)


def test_memory_of_the_host_is_no_argument_of_a_stream(scale):
    Produced, _ = producer([])
    with pytest.raises(TypeError, match="does not reach"):
        scale.launch(2, 64, Produced(NUMBERS), COUNT, 3, stream=1)


def test_integers_have_the_parameters_range(scale, values):
    for count in (0, COUNT, (1 << 32) - 1):
        scale.launch(2, 64, values, count if count <= COUNT else COUNT, (1 << 32) - 1 if count > COUNT else 1)
    np.testing.assert_array_equal(values.numpy(), (-NUMBERS.astype(np.int64)).astype(np.uint32))


# As compiled programs allocate their results: on the device, and mapped when somebody asks.
RESULT = """
module @made
import @hal.devices.get(i64) -> hal.device
import @hal.device.allocate(hal.device, i32, i32, i64) -> hal.buffer
import @hal.buffer_view.create(hal.buffer, i64, i64, i32, i32, (i64)...) -> hal.buffer_view
export func @result() -> hal.buffer_view {
  const.i64 %v0, 0
  call.import @hal.devices.get, %v0, %r0
  const.i32 %v0, 3
  const.i32 %v1, 63
  const.i64 %v2, 16
  call.import @hal.device.allocate, %v0, %r0
  const.i64 %v2, 0
  const.i64 %v3, -1
  const.i32 %v4, 800
  const.i32 %v5, 1
  const.i64 %v6, 4
  call.variadic @hal.buffer_view.create, %v2, %r0, [1]
  return
}
"""


def test_what_the_host_sees_of_a_result_is_a_copy(scale, gpu, folder):
    result = baton.load(assembled(folder, "made", RESULT), device=gpu).result()
    scale.launch(1, 64, result, 4, 0)
    for take in (np.asarray, np.array, baton.Tensor.numpy):
        copy = take(result)
        copy[:] = 7
        del copy  # Nothing is put back.
        assert result.tolist() == [0] * 4
    with pytest.raises(BufferError, match="the host does not reach"):
        memoryview(result)


def test_a_library_may_be_unloaded_and_used_again(gpu, values):
    library = baton.KernelLibrary({"cuda-ptx": PTX})
    for _ in range(2):
        library["scale"].launch(2, 64, values, COUNT, 2, stream=1)
        gpu.tensor(values).numpy()
        library.unload()
    np.testing.assert_array_equal(gpu.tensor(values).numpy(), 4 * NUMBERS)


def test_structures_for_tests_are_as_dlpack_has_them():
    assert ctypes.sizeof(DLManaged) == 80 and ctypes.sizeof(Table) == 56


IMPORTS = b""".version 7.0
.target sm_75
.address_size 64
.extern .func (.param .b32 result) mix(.param .b32 value);
.visible .entry scale(.param .u64 values, .param .u32 count, .param .u32 factor) {
  .param .b32 given; .param .b32 result; .reg .u32 %a; .reg .u64 %d;
  ld.param.u64 %d, [values];
  cvta.to.global.u64 %d, %d;
  ld.global.u32 %a, [%d];
  st.param.b32 [given], %a;
  call.uni (result), mix, (given);
  ld.param.b32 %a, [result];
  st.global.u32 [%d], %a;
  ret;
}
"""
MIX = b"""// Functions of the app.
.version 7.0
.target sm_75
.address_size 64
.visible .func (.param .b32 result) mix(.param .b32 value) {
  .reg .u32 %a;
  ld.param.b32 %a, [value];
  add.u32 %a, %a, 7;
  st.param.b32 [result], %a;
  ret;
}
"""
SCALE = [("scale", (64, 1, 1))]


def test_functions_of_the_app_are_linked_with_what_imports_them(gpu, tmp_path):
    file = tmp_path / "mix.ptx"
    file.write_bytes(MIX)
    for functions in ([MIX], [file], str(file), MIX):
        device = baton.device("cuda", functions=functions)
        assert device is not gpu and device.name == gpu.name
        device.executable({"cuda-ptx": IMPORTS}, SCALE)
    gpu.executable({"cuda-ptx": PTX}, SCALE)
    with pytest.raises(baton.NotFoundError, match="functions that nobody provides: 'mix'"):
        gpu.executable({"cuda-ptx": IMPORTS}, SCALE)


def test_functions_that_two_define_are_refused(gpu, tmp_path):
    file = tmp_path / "mix.ptx"
    file.write_bytes(MIX)
    device = baton.device("cuda", functions=[file, MIX])
    device.executable({"cuda-ptx": PTX}, SCALE)  # Imports none.
    with pytest.raises(baton.AlreadyExistsError, match=r"Function 'mix' is defined twice, by '.*mix.ptx' and by 'functions\[1\]'"):
        device.executable({"cuda-ptx": IMPORTS}, SCALE)


def test_what_is_no_device_code_is_no_function(gpu):
    for code in (b"", b"\x7fELF", b"/* .version", b"int mix(int);"):
        with pytest.raises(ValueError, match=r"'functions\[0\]' has no device functions"):
            baton.device("cuda", functions=[code])
    with pytest.raises(FileNotFoundError):
        baton.device("cuda", functions=["nowhere.ptx"])
