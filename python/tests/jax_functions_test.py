"""Twenty kinds of JAX functions by baton.jax.jit: the same numbers, types, trees and refusals as jax.jit's.

They were written down before any of them ran: what people hand to jax.jit, one kind each.
"""
import collections
import dataclasses
import functools
import os

import numpy as np
import pytest

import baton

jax = pytest.importorskip("jax", reason="JAX is not installed")
pytest.importorskip("baton.jax", reason="baton.jax is not in this tree")
jnp, lax = jax.numpy, jax.lax


pytestmark = pytest.mark.usefixtures("own_cache")


@pytest.fixture(autouse=True)
def narrow():
    jax.config.update("jax_enable_x64", False)
    yield
    jax.config.update("jax_enable_x64", False)


def bjit(*arguments, **keywords):
    import baton.jax
    keywords.setdefault("device", "local-sync")
    return baton.jax.jit(*arguments, **keywords)


def data(leaf):
    return jax.random.key_data(leaf) if jax.dtypes.issubdtype(leaf.dtype, jax.dtypes.prng_key) else leaf


def weak(leaf):
    return getattr(leaf, "weak_type", False)  # Keys of random numbers have none.


def same(got, wanted, tolerance=1e-5):
    """Tree, types (weak ones too), shapes and numbers."""
    assert jax.tree.structure(got) == jax.tree.structure(wanted)
    for mine, theirs in zip(jax.tree.leaves(got), jax.tree.leaves(wanted)):
        assert isinstance(mine, jax.Array)
        assert (mine.dtype, mine.shape, weak(mine)) == (theirs.dtype, theirs.shape, weak(theirs))
        mine, theirs = np.asarray(data(mine)), np.asarray(data(theirs))
        if mine.dtype.kind in "biu":
            np.testing.assert_array_equal(mine, theirs)
        else:
            wide = np.complex128 if mine.dtype.kind == "c" else np.float64
            np.testing.assert_allclose(mine.astype(wide), theirs.astype(wide), rtol=tolerance, atol=tolerance)


def agree(function, *arguments, tolerance=1e-5, device="local-sync", options=None, libraries=(), **keywords):
    options = options or {}
    got = bjit(function, device=device, libraries=libraries, **options)(*arguments, **keywords)
    same(got, jax.jit(function, **options)(*arguments, **keywords), tolerance)


def f32(*shape, seed=0):
    return jnp.asarray(np.random.default_rng(seed).standard_normal(shape, np.float32))


# 1. Trees ------------------------------------------------------------------------------------------------------------

Point = collections.namedtuple("Point", ["x", "y"])


@jax.tree_util.register_dataclass
@dataclasses.dataclass
class State:
    weights: dict
    step: jax.Array


def test_01_trees():
    def function(point, state, *rest, flag=None, **more):
        step = State({name: each * 2 for name, each in state.weights.items()}, state.step + 1)
        return {"point": Point(point.y, point.x), "state": step, "none": flag, "rest": [sum(rest), ()], "more": more}

    agree(function, Point(f32(3), f32(2)), State({"b": f32(2), "a": f32(1)}, jnp.int32(4)),
          f32(2, 2), f32(2, 2), alpha=f32(1), beta=(f32(2), None))


# 2. Static arguments -------------------------------------------------------------------------------------------------


def test_02_static_arguments():
    def function(x, times, mode="add", *, axis=None):
        for _ in range(times):
            x = x + 1 if mode == "add" else x * 2
        return x.sum(axis)

    x = f32(3, 4)
    agree(function, x, 3, options={"static_argnums": 1, "static_argnames": ("mode", "axis")})
    agree(function, x, 3, "mul", options={"static_argnums": (1, 2), "static_argnames": "axis"}, axis=(0, 1))
    agree(function, x, times=2, mode="mul", options={"static_argnames": ("times", "mode", "axis")}, axis=0)
    jitted = bjit(function, static_argnames=("times", "mode", "axis"))
    for times in (1, 2, 1):
        same(jitted(x, times), function(x, times))
    assert len(jitted._ready) == 2
    with pytest.raises(ValueError, match="hashable|unhashable"):
        jitted(x, [1])


# 3. Donated arguments ------------------------------------------------------------------------------------------------


def test_03_donated_arguments():
    def step(cache, row, at):
        return lax.dynamic_update_slice(cache, row[None], (at, 0)), row.sum()

    bump = bjit(lambda x: x.at[:].add(1), donate_argnums=0)
    cache, row = jnp.zeros((64, 16)), f32(16)
    wanted = jax.jit(step)(cache, row, 3)
    got = bjit(step, donate_argnums=0)(cache, row, 3)
    same(got, wanted)
    assert cache.is_deleted() and not row.is_deleted()
    for _ in range(200):  # The result outlives what it was made of.
        assert np.asarray(bump(jnp.zeros(12))).tolist() == [1] * 12
    with pytest.raises(RuntimeError, match="was donated to an earlier call"):
        bjit(step, donate_argnums=0)(cache, row, 3)
    kept = f32(8)
    before = np.asarray(kept).copy()
    same(bjit(lambda x: x.at[2].set(5))(kept), kept.at[2].set(5))
    np.testing.assert_array_equal(np.asarray(kept), before)  # What is not donated is not written.
    same(bjit(step, donate_argnames="cache")(cache=jnp.ones((4, 16)), row=row, at=1), jax.jit(step)(jnp.ones((4, 16)), row, 1))


# 4. Integers ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32])
def test_04_integers(dtype):
    low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
    x = np.array([low, low + 1, 0, 1, 2, 5, high - 1, high], dtype)
    y = np.array([high, 3, 0, 0, 1, 2, 7, high], dtype)

    def function(x, y):
        return (x + y, x - y, x * y, x // jnp.maximum(y, 1), x % jnp.maximum(y, 1), lax.shift_left(x, y % 8), lax.shift_right_logical(x, y % 8),
                lax.shift_right_arithmetic(x, y % 8), x & y, x | ~y, x ^ y, lax.population_count(x), lax.clz(x), x < y, jnp.abs(x),
                x.astype(jnp.float32), x.astype(jnp.int16), jnp.minimum(x, y), x.sum(), x.max(), jnp.argmin(x), jnp.sign(x), x // 3)

    agree(function, x, y)


def test_04_integers_of_64_bits():
    jax.config.update("jax_enable_x64", True)
    x = np.array([-2**63, -1, 0, 7, 2**63 - 1], np.int64)
    agree(lambda x, u: (x + 1, x // 7, x % 7, x * x, u >> 3, u // 7, x.astype(np.float64), x.sum(), u.max(), 2**40 + x), x, x.astype(np.uint64))


# 5. Small floats -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [jnp.float16, jnp.bfloat16])
def test_05_small_floats(dtype):
    def function(x, w, n):
        h = jax.nn.gelu(x @ w)
        return h, h.sum(), jax.nn.softmax(h), h.astype(jnp.float32).mean(), x * 2 + 1, x + n, jnp.max(h, 0), x.astype(jnp.int32), x > 0

    agree(function, f32(4, 8).astype(dtype), f32(8, 5, seed=1).astype(dtype), np.int8(3), tolerance=2e-2)


# 6. Arrays without elements ------------------------------------------------------------------------------------------


def test_06_empty_arrays():
    def function(x, y):
        return (x + 1, x.sum(), x.sum(0), x.sum(1), jnp.concatenate([x, y]), x @ y.T, y[:0], jnp.sort(x), jnp.zeros((0,), jnp.int32), x.reshape(3, 0),
                y @ jnp.zeros((3, 0)), jnp.zeros((2, 0)) @ jnp.zeros((0, 3)), x.T, jnp.where(x > 0, x, 0), jnp.cumsum(x, 0), x.prod())

    agree(function, jnp.zeros((0, 3)), f32(2, 3))


# 7. Scalars, and 8. weak types ---------------------------------------------------------------------------------------


def test_07_scalars():
    agree(lambda a, b, c, d, e: (a + b, a * c, d, jnp.where(d, a, b), a // 3, -b, e * 2, jnp.asarray(a, jnp.float32)), 7, 2.5, np.float32(3), True,
          np.int16(4))
    agree(lambda x, y: x * y, 1 + 2j, f32(3))
    agree(lambda x: x, 3)
    agree(lambda x, y, z: (x, y, z), np.float64(2), np.array([1, 2], np.int64), np.uint64(7))  # JAX makes them 32 bits.
    with pytest.raises(OverflowError):
        bjit(lambda x: x)(2**40)


def test_08_weak_types():
    x = f32(3).astype(jnp.bfloat16)
    agree(lambda a: (a, a * 2, a + x, jnp.sin(a), jnp.zeros(3) + a), 2.0)
    weak = bjit(lambda a: a * 2)(2.0)
    assert weak.weak_type and (x * weak).dtype == jnp.bfloat16
    agree(lambda a, b: (a + b, a), jnp.asarray(2.0), np.float16(1))
    agree(lambda a: jnp.broadcast_to(a, (3,)) * 1, 2)
    jitted = bjit(lambda a, x: a * x)
    assert jitted(2.0, x).dtype == jnp.bfloat16 and jitted(jnp.float32(2), x).dtype == jnp.float32
    assert jitted(2, x).dtype == jnp.bfloat16 and jitted(True, x).dtype == jnp.bfloat16


# 9. Sizes that are not known -----------------------------------------------------------------------------------------


def test_09_any_batch():
    def layer(p, x):
        h = jax.nn.relu(x @ p["w"] + p["b"])
        return {"y": jax.nn.softmax(h), "mean": h.mean(0), "n": h.shape[0] * jnp.ones(())}

    p = {"w": f32(4, 5), "b": f32(5)}
    jitted = bjit(layer, sizes=(None, "batch, 4"))
    for count in (1, 3, 8, 3):
        x = f32(count, 4, seed=count)
        same(jitted(p, x), jax.jit(layer)(p, x))
    assert len(jitted._of_any_size) == 1
    twice = bjit(lambda x, y: (x[:, None] * y[None], jnp.concatenate([x, y])), sizes=("a", "b"))
    for a, b in ((2, 3), (5, 1), (4, 4)):
        same(twice(f32(a), f32(b)), (f32(a)[:, None] * f32(b)[None], jnp.concatenate([f32(a), f32(b)])))
    named = bjit(lambda x, *, by: x * by, sizes=("n",))
    for by in (f32(1), f32(1, seed=1), jnp.float32(2)):
        same(named(f32(3), by=by), f32(3) * by)
    assert len(named._of_any_size) == 2  # Not one for each value.
    kernel = f32(4, 3, 3, 3)
    windows = bjit(lambda x: lax.conv_general_dilated(x, kernel, (2, 1), "SAME", rhs_dilation=(1, 2)), sizes=("b, 3, 8, 7",))
    for count in (1, 5):
        same(windows(f32(count, 3, 8, 7)), lax.conv_general_dilated(f32(count, 3, 8, 7), kernel, (2, 1), "SAME", rhs_dilation=(1, 2)), 1e-4)
    pools = bjit(lambda x: (lax.reduce_window(x, -jnp.inf, lax.max, (1, 3, 2), (1, 2, 1), "SAME"), lax.reduce_window(x, 0.0, lax.add, (1, 2, 2), (1, 1, 2), "VALID")),
                 sizes=("b, 7, 6",))
    same(pools(f32(3, 7, 6)), (lax.reduce_window(f32(3, 7, 6), -jnp.inf, lax.max, (1, 3, 2), (1, 2, 1), "SAME"),
                               lax.reduce_window(f32(3, 7, 6), 0.0, lax.add, (1, 2, 2), (1, 1, 2), "VALID")))
    equal = bjit(lambda x, y: x + y, sizes=("n", "n"))
    same(equal(f32(6), f32(6)), f32(6) * 2)
    with pytest.raises((ValueError, baton.StatusError), match="(?i)inconsisten|n"):
        equal(f32(6), f32(5))


def test_gradients_of_maxima_over_windows():
    """Windows that overlap, miss elements, or reach past the tensor; in each, several elements may be the largest."""
    forms = [((7,), (3,), (2,), "SAME"), ((8, 5), (3, 2), (1, 1), "VALID"), ((8, 7), (2, 5), (3, 2), [(1, 0), (2, 4)]), ((1, 6), (1, 4), (1, 3), "SAME"),
             ((5, 8, 4), (2, 3, 4), (1, 2, 3), [(0, 1), (2, 0), (3, 1)]), ((7, 7), (2, 2), (2, 2), "VALID"), ((4, 8), (5, 1), (2, 3), [(4, 4), (0, 0)]),
             ((9,), (4,), (3,), [(3, 0)]), ((2, 9, 9, 3), (1, 3, 3, 1), (1, 2, 2, 1), "SAME")]
    numbers = np.random.default_rng(1)
    tensors = [jnp.asarray(numbers.integers(-3, 4, shape), jnp.float32) for shape, *_ in forms]

    def gradients(tensors):
        for x, (_, window, strides, padding) in zip(tensors, forms):
            y, back = jax.vjp(lambda x: lax.reduce_window(x, -jnp.inf, lax.max, window, strides, padding), x)
            yield back(jnp.cos(jnp.arange(y.size, dtype=jnp.float32)).reshape(y.shape))[0]

    agree(lambda tensors: list(gradients(tensors)), tensors)


# 10. Several devices -------------------------------------------------------------------------------------------------


def test_10_several_devices():
    first, second = bjit(lambda x: x @ x.T, device="local-task"), bjit(lambda x: jnp.tanh(x), device="local-sync")
    x = f32(16, 16)
    same(second(first(x)), jnp.tanh(x @ x.T), 1e-4)
    shared = baton.device("local-task")
    one, two = bjit(lambda x: x + 1, device=shared), bjit(lambda x: x * 2, device=shared)
    for _ in range(20):
        x = two(one(x)) / 2 - 1
    same(x, f32(16, 16), 1e-4)


# 11. Functions of functions ------------------------------------------------------------------------------------------


def test_11_jit_of_jit():
    inner = jax.jit(lambda x, n: x**n, static_argnums=1)
    agree(lambda x: inner(x, 3) + jax.jit(jnp.sin)(x), f32(4))
    agree(jax.jit(lambda x: x * 2), f32(4))
    ours = bjit(lambda x: jnp.cos(x) * 3)
    same(bjit(lambda x: ours(x) + 1)(f32(4)), jnp.cos(f32(4)) * 3 + 1)
    same(bjit(jax.grad(lambda x: ours(x).sum()))(f32(4)), -jnp.sin(f32(4)) * 3)
    same(bjit(jax.vmap(ours))(f32(4, 2)), jnp.cos(f32(4, 2)) * 3)
    for transformed in (jax.jit(ours), jax.grad(lambda x: ours(x).sum()), jax.vmap(ours)):
        with pytest.raises(TypeError, match="outside of JAX's transformations"):
            transformed(f32(4))
    same(ours(f32(4)), jnp.cos(f32(4)) * 3)

    class Model:
        scale = 3

        @functools.partial(bjit, static_argnums=0)
        def __call__(self, x):
            return x * self.scale

    same(Model()(f32(4)), f32(4) * 3)


# 12. to 16. What JAX makes of functions ------------------------------------------------------------------------------


def mlp(p, x):
    for w, b in p[:-1]:
        x = jnp.tanh(x @ w + b)
    return x @ p[-1][0] + p[-1][1]


def test_12_gradients():
    p = [(f32(4, 8), f32(8)), (f32(8, 2), f32(2))]
    x, y = f32(5, 4, seed=1), f32(5, 2, seed=2)

    def loss(p, x, y):
        out = mlp(p, x)
        return ((out - y)**2).mean(), out

    agree(jax.value_and_grad(loss, has_aux=True), p, x, y)
    agree(jax.grad(jax.checkpoint(lambda p: loss(p, x, y)[0])), p)
    agree(jax.jacfwd(jnp.sin), f32(3))
    agree(jax.hessian(lambda x: (x**3).sum()), f32(3))
    agree(lambda x, t: jax.jvp(jnp.tanh, (x,), (t,)), f32(3), f32(3))


def test_13_vmap():
    agree(jax.vmap(jax.vmap(jnp.dot, (None, 0)), (0, None)), f32(3, 4), f32(5, 4))
    agree(jax.vmap(lambda p, x: mlp(p, x), (None, 0), 1), [(f32(4, 3), f32(3))], f32(6, 2, 4))
    agree(jax.vmap(lambda x, i: lax.dynamic_slice(x, (i,), (2,))), f32(3, 6), jnp.array([0, 3, 9]))
    agree(jax.vmap(lambda x: lax.while_loop(lambda v: v.sum() < 10, lambda v: v * 2, x)), jnp.abs(f32(3, 4)) + 0.1)


def test_14_scan():
    def cell(carry, x):
        h, c = carry
        i, f, g, o = jnp.split(x @ w + h @ u, 4)
        c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        h = jax.nn.sigmoid(o) * jnp.tanh(c)
        return (h, c), {"h": h, "n": jnp.argmax(h)}

    w, u = f32(3, 16), f32(4, 16, seed=1)
    start = (jnp.zeros(4), jnp.zeros(4))
    agree(lambda xs: lax.scan(cell, start, xs), f32(7, 3))
    agree(lambda xs: lax.scan(cell, start, xs, reverse=True, unroll=2), f32(7, 3))
    agree(lambda xs: jax.grad(lambda xs: lax.scan(cell, start, xs)[0][0].sum())(xs), f32(5, 3))
    agree(lambda x: (lax.associative_scan(jnp.multiply, x), lax.map(jnp.sum, x), jnp.cumsum(x, 1), lax.cummax(x)), f32(6, 3))
    agree(lambda x: lax.scan(lambda c, _: (c * 2, None), x, length=3), f32(2))


def test_15_while():
    def collatz(n):
        return lax.while_loop(lambda s: s[0] != 1, lambda s: (jnp.where(s[0] % 2 == 0, s[0] // 2, 3 * s[0] + 1), s[1] + 1), (n, 0))[1]

    agree(collatz, 27)
    agree(jax.vmap(collatz), jnp.arange(1, 9))
    agree(lambda x, n: lax.fori_loop(0, n, lambda i, v: v.at[i].add(i * v.sum()), x), f32(5), 4)

    def newton(a):
        return lax.while_loop(lambda s: jnp.abs(s * s - a) > 1e-5 * a, lambda s: (s + a / s) / 2, a)

    agree(newton, 2.0)


def test_16_branches():
    def function(x, which, flag):
        a = lax.switch(which, [lambda v: v + 1, lambda v: v * 2, lambda v: -v], x)
        b = lax.cond(flag, lambda v: (v.sum(), jnp.argmax(v)), lambda v: (v.min(), jnp.argmin(v)), x)
        return a, b, lax.cond(x.sum() > 0, jnp.sin, jnp.cos, x), lax.select(flag, x, -x)

    for which in (-1, 0, 1, 2, 7):
        agree(function, f32(4), which, which > 0)
    agree(jax.grad(lambda x, f: lax.cond(f, jnp.sin, lambda v: v**2, x)), 0.5, True)


# 17. Random numbers --------------------------------------------------------------------------------------------------


def test_17_random():
    def function(key):
        a, b, c, d = jax.random.split(key, 4)
        return (jax.random.normal(a, (4,)), jax.random.uniform(b, (3, 2), minval=-1), jax.random.randint(c, (5,), 0, 100), jax.random.bernoulli(d, 0.3, (6,)),
                jax.random.categorical(a, jnp.zeros((3, 4))), jax.random.permutation(b, 8), jax.random.fold_in(c, 7), jax.random.choice(d, 10, (3,)))

    agree(function, jax.random.key(3))
    agree(function, jax.random.PRNGKey(3))
    agree(lambda key: jax.random.truncated_normal(key, -1, 1, (4,)), jax.random.key(0))
    agree(lambda seed: jax.random.normal(jax.random.key(seed), (2,)), 42)
    agree(lambda keys: jax.vmap(lambda key: jax.random.gumbel(key, (2,)))(keys), jax.random.split(jax.random.key(1), 3))
    agree(lambda keys: {"next": jax.random.split(keys[0], 2), "same": keys}, (jax.random.key(5),))


# 18. Order -----------------------------------------------------------------------------------------------------------


def test_18_order():
    def function(x, k):
        values, places = lax.top_k(x, 3)
        return (jnp.sort(x, axis=0), jnp.argsort(x, axis=1), values, places, jnp.lexsort((x[0], k)), jnp.unique(k, size=4, fill_value=-1),
                jnp.searchsorted(jnp.sort(x[0]), x[1]), jnp.median(x, 1), jnp.sort(x, descending=True), jnp.bincount(k, length=5),
                jax.ops.segment_sum(x[0], k, 4), jnp.nonzero(k, size=3)[0], jnp.quantile(x, 0.25), jnp.percentile(x[0], 60), jnp.partition(x[0], 2)[2])

    agree(function, f32(4, 6), jnp.array([3, 1, 3, 0, 2, 1]))


# 19. Libraries -------------------------------------------------------------------------------------------------------


def test_19_linear_algebra_and_transforms():
    a = f32(5, 5) + 5 * jnp.eye(5)
    agree(lambda a, b: (jnp.linalg.solve(a, b), jnp.linalg.inv(a), jnp.linalg.cholesky(a @ a.T), jnp.linalg.det(a), jnp.linalg.norm(b)), a, f32(5, 2),
          tolerance=1e-3)
    agree(lambda x: (jnp.abs(jnp.fft.rfft(x)), jnp.fft.ifft(jnp.fft.fft(x)).real, jnp.fft.fftshift(x), jnp.fft.fft(x)), f32(16), tolerance=1e-4)
    folder = os.path.join(os.path.dirname(os.environ.get("BATON_SAMPLES", "")), "libraries")
    lapack = os.path.join(folder, "lapack.so")
    if not os.path.exists(lapack):
        pytest.skip("the plugin lapack is not built")
    agree(lambda x: (jnp.linalg.svd(x, compute_uv=False), jnp.linalg.eigvalsh(x + x.T), jnp.abs(jnp.linalg.qr(x)[1])), f32(5, 5), tolerance=1e-3,
          libraries=[lapack])


# 20. A training step -------------------------------------------------------------------------------------------------


def test_20_a_training_step():
    @jax.custom_vjp
    def clipped(x):
        return x

    clipped.defvjp(lambda x: (x, None), lambda _, g: (jnp.clip(g, -0.1, 0.1),))

    def forward(p, x):
        x = lax.conv_general_dilated(x, p["conv"], (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
        x = lax.reduce_window(jax.nn.relu(x), -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
        return clipped(x.reshape(x.shape[0], -1)) @ p["out"]

    @functools.partial(jax.jit, donate_argnums=())
    def step(p, m, x, y, rate):
        def loss(p):
            return -jnp.take_along_axis(jax.nn.log_softmax(forward(p, x)), y[:, None], 1).mean()

        value, g = jax.value_and_grad(loss)(p)
        m = jax.tree.map(lambda m, g: 0.9 * m + g, m, g)
        return jax.tree.map(lambda p, m: p - rate * m, p, m), m, value

    p = {"conv": f32(3, 3, 1, 4) * 0.3, "out": f32(64, 10) * 0.1}
    m = jax.tree.map(jnp.zeros_like, p)
    ours = bjit(step, donate_argnums=(0, 1))
    mine, theirs = (jax.tree.map(jnp.copy, p), jax.tree.map(jnp.copy, m)), (p, m)
    x, y = f32(4, 8, 8, 1), jnp.array([1, 0, 9, 3])
    for _ in range(3):
        *mine, a = ours(*mine, x, y, 0.1)
        *theirs, b = step(*theirs, x, y, 0.1)
        same(a, b, 1e-4)
    same(tuple(mine), tuple(theirs), 1e-4)
