"""Arrays of bool that kernels read, write, count and join, along each dimension and of more and fewer elements than vectors have, against JAX."""
import numpy as np
import pytest

jax = pytest.importorskip("jax", reason="JAX is not installed in this environment")
import jax.numpy as jnp  # noqa: E402

import tools  # noqa: E402


def all_of(a, b, mask, other):
    """`a` and `b` are numbers. What is a result, too, others read from memory."""
    seen, small = (a > 0, a < b)
    joined = [how(each, axis) for each in (seen, mask) for how in (jnp.any, jnp.all, jnp.sum) for axis in (None, 0, 1)]
    moved = [mask[::-1], mask.T, jnp.roll(mask, 3, 1), jnp.concatenate([mask, seen], 1), jnp.pad(mask, 2, constant_values=True)]
    logic = [mask & other, mask ^ seen, ~mask, mask | small, mask == other, mask < other]
    chosen = [jnp.where(mask, a, b), jnp.where(seen, a, 0).sum(0) / seen.sum(0), jnp.where(mask.T, 1, a.T.astype(jnp.int8)), mask * a]
    gone = jax.lax.fori_loop(0, 5, lambda _, carried: (carried[0] & (carried[1] < 3), carried[1] + carried[0]), (mask, jnp.zeros(mask.shape, jnp.int32)))
    return [seen, small, *joined, *moved, *logic, *chosen, *gone, mask.astype(a.dtype), a.astype(bool), jnp.argmax(mask, 1), jnp.cumsum(mask, 1)]


@pytest.mark.parametrize("level", ["baseline", "avx2", "host"])
@pytest.mark.parametrize("kind", ["float32", "float64", "int8"])
@pytest.mark.parametrize("shape", [(1, 1), (3, 5), (67, 131)], ids=str)
def test_bools(shape, kind, level, tmp_path):
    source = np.random.default_rng(sum(shape))
    a, b = (source.integers(-3, 4, shape).astype(kind) for _ in range(2))
    arguments = [a, b, source.random(shape) < 0.6, source.random(shape) < 0.5]
    wanted, given = tools.beside_jax(all_of, arguments, tmp_path, f"--cpu-levels={level}")
    told = tools.differences(wanted, given, 1e-6)
    assert not told, told
