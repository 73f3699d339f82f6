"""On a GPU: arrays of PyTorch and JAX in place and in order with their streams, NumPy's copied. Skipped, with the reason, where
there is no GPU or no compiler."""
import numpy as np
import pytest

import baton

MATH = """func.func @add(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %sum = arith.addf %x, %y : tensor<?xf32>
  return %sum : tensor<?xf32>
}
func.func @later(%x: tensor<?xf32>) -> tensor<?xf32> attributes {iree.abi.model = "coarse-fences"} {
  %sum = arith.addf %x, %x : tensor<?xf32>
  return %sum : tensor<?xf32>
}
"""


@pytest.fixture(scope="module")
def program():
    if not any((info.uri or "").startswith("cuda") for info in baton.devices()):
        reasons = [info.facts.get("unavailable") for info in baton.devices() if info.description == "cuda"]
        pytest.skip(f"there is no CUDA device: {reasons}")
    try:
        return baton.load(baton.compile(MATH, target="cuda"), device="cuda")
    except baton.UnavailableError as error:
        pytest.skip(str(error))


def test_arrays_of_the_host_are_copied(program):
    array = np.arange(1000, dtype=np.float32)
    result = program.add(array, array)
    assert result.__dlpack_device__()[0] == 2
    np.testing.assert_array_equal(np.asarray(result), 2 * array)
    np.testing.assert_array_equal(np.asarray(program.add(result, array)), 3 * array)
    with pytest.raises(BufferError):
        memoryview(result)


def test_results_with_fences(program):
    array = np.arange(1000, dtype=np.float32)
    np.testing.assert_array_equal(np.asarray(program.later(program.later(array))), 4 * array)


def test_torch_in_order_with_its_streams(program):
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    if not torch.cuda.is_available():
        pytest.skip("this PyTorch has no CUDA")
    for stream in (torch.cuda.current_stream(), torch.cuda.Stream()):
        with torch.cuda.stream(stream):
            for number in range(20):
                x = torch.full((1 << 20,), 1.0, device="cuda")
                for _ in range(10):  # Work that is in flight when the call comes.
                    x = x + 1
                result = torch.from_dlpack(program.add(x, x))
                assert float((result * 2).sum()) == 44.0 * (1 << 20), number
                later = torch.from_dlpack(program.later(x))
                assert float(later.sum()) == 22.0 * (1 << 20), number
    x = torch.arange(8.0, device="cuda")
    assert torch.from_dlpack(program.add(x, x)).tolist() == (2 * x).tolist()
    assert program.add(x[::2], x[::2]).tolist() == [0, 4, 8, 12]


def test_jax_on_its_gpu(program):
    jax = pytest.importorskip("jax", reason="JAX is not installed")
    if jax.default_backend() != "gpu":
        pytest.skip(f"this JAX runs on {jax.default_backend()}")
    x = jax.numpy.arange(1000.0) * 2
    result = jax.numpy.from_dlpack(program.add(x, x))
    np.testing.assert_array_equal(np.asarray(result), 4 * np.arange(1000.0))


def test_foreign_work_gets_a_stream():
    if not any((info.uri or "").startswith("cuda") for info in baton.devices()):
        pytest.skip("there is no CUDA device")
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    text = """func.func private @py.twice(%x: tensor<8xf32>) -> tensor<8xf32> attributes {iree.abi.streamable}
func.func @run(%x: tensor<8xf32>) -> tensor<8xf32> {
  %y = call @py.twice(%x) : (tensor<8xf32>) -> tensor<8xf32>
  return %y : tensor<8xf32>
}
"""

    def twice(commands, x, y):
        def library(stream, source, target):
            with torch.cuda.stream(torch.cuda.ExternalStream(stream)):
                from_, to = (torch.as_tensor(one, device="cuda").view(torch.float32) for one in (source, target))
                torch.mul(from_, 2, out=to)

        commands.foreign(library, x, y)

    program = baton.load(baton.compile(text, target="cuda"), device="cuda", modules=[baton.module("py", {"twice": twice})])
    for _ in range(3):
        assert program.run(np.arange(8, dtype=np.float32)).tolist() == [0, 2, 4, 6, 8, 10, 12, 14]
