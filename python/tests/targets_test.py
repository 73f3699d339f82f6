"""What programs are compiled for: names of devices, lists of them, and the device that a program is for."""
from types import SimpleNamespace

import numpy as np
import pytest

import baton
from baton._compile import _targets, target_of

TWICE = """func.func @twice(%x: tensor<?xf32>) -> tensor<?xf32> {
  %sum = arith.addf %x, %x : tensor<?xf32>
  return %sum : tensor<?xf32>
}
"""
NAMES = [("cpu", "local"), ("local", "local"), ("local-sync", "local"), ("local-task?workers=2", "local"), ("cuda", "cuda"), ("cuda://1", "cuda"),
         ("cuda-GPU-5f3a?cuda_mode=graph", "cuda"), ("vulkan", "vulkan"), ("vulkan://0?vulkan_validation=0", "vulkan"), ("vulkan-5f3a-0", "vulkan")]


@pytest.fixture(scope="module", autouse=True)
def compiler(own_cache):
    pass


def kinds_here():
    """The devices of this machine that run what is compiled for them."""
    return [info.uri for info in baton.devices() if info.uri and info.uri != "null"]


@pytest.mark.parametrize(("name", "target"), NAMES)
def test_a_device_has_the_target_of_its_driver(name, target):
    assert _targets(name) == [target] == [target_of(SimpleNamespace(name=name))]


def test_names_of_one_target_are_one():
    assert _targets([name for name, _ in NAMES]) == ["local", "cuda", "vulkan"]
    assert _targets(("vulkan", "cpu")) == ["vulkan", "local"]


@pytest.mark.parametrize("wrong", ["metal", "", "cuda1", "cuda:1", ["cpu", "gpu"]])
def test_what_is_no_device_is_refused(wrong):
    with pytest.raises(ValueError, match="is none of cpu, cuda, local, vulkan"):
        baton.compile(TWICE, target=wrong)


@pytest.mark.parametrize("wrong", [3, b"cuda", ["cpu", 3], {"cpu": 1}])
def test_what_is_no_name_is_refused(wrong):
    with pytest.raises(TypeError, match="is no name of a device"):
        baton.compile(TWICE, target=wrong)


def test_one_program_runs_on_every_device():
    code = baton.compile(TWICE, target=["cpu", "cuda", "vulkan"])
    for device in kinds_here():
        result = baton.load(code, device=device).twice(np.arange(5, dtype=np.float32))
        assert result.tolist() == [0, 2, 4, 6, 8], device


@pytest.mark.parametrize("shape", [(0,), (0, 3), (2, 0, 4)])
def test_tensors_without_elements_are_read_on_every_device(shape):
    for kind in kinds_here():
        device = baton.device(kind)
        tensor = device.tensor(np.zeros(shape, np.float32))
        assert np.asarray(tensor).shape == shape and tensor.tolist() == np.zeros(shape).tolist(), kind
        assert tensor.numpy().dtype == np.float32 and tensor.nbytes == 0 and bytes(np.asarray(tensor)) == b"", kind


def test_jax_compiles_for_the_device_that_it_is_given():
    jax = pytest.importorskip("jax", reason="JAX is not installed")
    import jax.numpy as jnp

    import baton.jax
    arguments = jax.device_put((np.full((3, 4), 0.5, np.float32), np.ones(3, np.complex64)), jax.devices("cpu")[0])
    for device in kinds_here():
        function = baton.jax.jit(lambda x, c: (jnp.tanh(x @ x.T).sum(), c * 2j), device=device)
        total, turned = function(*arguments)
        np.testing.assert_allclose(total, 9 * np.tanh(1.0), rtol=1e-5)
        np.testing.assert_array_equal(turned, np.full(3, 2j, np.complex64))
