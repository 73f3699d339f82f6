"""Arrays of the host as arguments on devices with memory of their own: a function that takes fences begins behind their copies,
and nobody waits. On Vulkan, and on the fake GPU of tests/support, whose work is not through while it is held."""
import ctypes
import os
import subprocess
import sys

import numpy as np
import pytest

import baton

ASYNC = ' attributes {iree.abi.model = "coarse-fences"}'
SWAPPED = """func.func @%s(%%x: tensor<?xf32>, %%y: tensor<2x2xi32>) -> (tensor<2x2xi32>, tensor<?xf32>)%s {
  return %%y, %%x : tensor<2x2xi32>, tensor<?xf32>
}
"""
SUMS = f"""func.func @sum(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32>{ASYNC} {{
  %sum = arith.addf %x, %y : tensor<?xf32>
  return %sum : tensor<?xf32>
}}
"""


def has(name):
    return any((info.uri or "").startswith(name) for info in baton.devices())


def loaded(text, device):
    if not has(device):
        pytest.skip(f"there is no {device} device")
    try:
        return baton.load(baton.compile(text, target=device), device=device)
    except baton.UnavailableError as error:
        pytest.skip(f"there is no compiler: {error}")


def test_all_of_it_on_the_fake_gpu():
    environment = dict(os.environ)
    folder = environment.pop("BATON_FAKE_CUDA", None)  # The tests inside do not start others, whatever the folder holds.
    if has("cuda"):
        pytest.skip("the other tests run on this machine's GPU, or are run on the fake one")
    if not folder:
        pytest.skip("BATON_FAKE_CUDA does not name the folder of the fake libcuda.so.1")
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider", "-k", "held or swapped", __file__],
                          check=False, capture_output=True, text=True, timeout=120, env={**environment, "LD_LIBRARY_PATH": folder})
    assert done.returncode == 0 and " passed" in done.stdout, done.stdout + done.stderr
    assert "SKIPPED" not in done.stdout, done.stdout


@pytest.fixture
def hold():
    """Holds what the fake GPU is given, until it is called with False."""
    if not has("cuda"):
        pytest.skip("there is no fake GPU")
    library = ctypes.CDLL("libcuda.so.1")
    if not hasattr(library, "baton_fake_cuda_hold"):
        pytest.skip("this GPU cannot be held")
    yield lambda held: library.baton_fake_cuda_hold(int(held))
    library.baton_fake_cuda_hold(0)


@pytest.fixture(scope="module")
def swapped():
    return loaded(SWAPPED % ("later", ASYNC) + SWAPPED % ("now", ""), "cuda")


def test_a_call_behind_held_work_returns(hold, swapped):
    x, y = np.arange(5, dtype=np.float32), np.array([[1, 2], [3, 4]], np.int32)
    swapped.later(x, y)[0].numpy()  # Its memory is there from here on.
    hold(True)
    results = []
    for number in range(4):
        results.append(swapped.later(x, y.tolist()))
        x += 1  # The array is the caller's again.
    assert not any(tensor.is_ready for pair in results for tensor in pair)
    hold(False)
    for number, (second, first) in enumerate(results):
        np.testing.assert_array_equal(first.numpy(), np.arange(5, dtype=np.float32) + number)
        np.testing.assert_array_equal(second.numpy(), y)


def test_a_tensor_of_a_held_device(hold, swapped):
    device, x = baton.device("cuda"), np.arange(1 << 16, dtype=np.float32)
    device.tensor(x).wait()
    hold(True)
    made = device.tensor(x)
    x[:] = 0
    assert not made.is_ready
    same = device.tensor(made)
    assert not same.is_ready
    second, first = swapped.later(same, np.zeros((2, 2), np.int32))
    assert not first.is_ready and not second.is_ready
    hold(False)
    np.testing.assert_array_equal(made.numpy(), np.arange(1 << 16, dtype=np.float32))
    np.testing.assert_array_equal(first.numpy(), made.numpy())


def test_swapped_without_fences_or_from_lists(swapped):
    for number in range(10):
        second, first = swapped.now([1.0, number], np.full((2, 2), number, np.int32))
        np.testing.assert_array_equal(first.numpy(), [1, number])
        np.testing.assert_array_equal(second.numpy(), np.full((2, 2), number))
    with pytest.raises(baton.StatusError):
        swapped.later(np.zeros(3, np.float32), np.zeros((3, 3), np.int32))
    second, _ = swapped.later(np.zeros(3, np.float32), np.ones((2, 2), np.int32))
    np.testing.assert_array_equal(second.numpy(), np.ones((2, 2)))


def test_results_in_order_on_vulkan():
    program = loaded(SUMS, "vulkan")
    x = np.zeros(1000, np.float32)
    total, expected = program.sum(x, x), 0.0
    for number in range(40):
        x[:] = number
        total, expected = program.sum(total, x), expected + number
    x[:] = -1
    np.testing.assert_array_equal(total.numpy(), np.full(1000, expected, np.float32))
