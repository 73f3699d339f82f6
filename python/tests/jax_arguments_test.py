"""What callers hand to a function of baton.jax.jit, one after another: each call gives what jax.jit gives, whatever came before it."""
import numpy as np
import pytest

import baton

jax = pytest.importorskip("jax", reason="JAX is not installed")
pytest.importorskip("baton.jax", reason="baton.jax is not in this tree")
jnp, lax = jax.numpy, jax.lax

pytestmark = pytest.mark.usefixtures("own_cache")
X = np.arange(3, dtype=np.float32)


@pytest.fixture(autouse=True)
def narrow():
    jax.config.update("jax_enable_x64", False)


def bjit(function, **options):
    return baton.jax.jit(function, device="local-sync", **options)


def same(got, wanted):
    assert jax.tree.structure(got) == jax.tree.structure(wanted)
    for mine, theirs in zip(jax.tree.leaves(got), jax.tree.leaves(wanted)):
        assert type(mine) is type(theirs) and (mine.dtype, mine.shape) == (theirs.dtype, theirs.shape)
        if mine.dtype != jax.dtypes.float0:
            np.testing.assert_allclose(np.asarray(mine).astype(np.float64), np.asarray(theirs).astype(np.float64), rtol=1e-6)


# Kinds that one program might serve, in orders that people have.
SEQUENCES = {
    "an array without dimensions, then a scalar": (np.array(3, np.float32), np.float32(4), np.array(5, np.float32)),
    "a scalar, then an array without dimensions": (np.float32(4), np.array(3, np.float32)),
    "numbers of Python": (1, True, 2.5, np.int32(3), 1, np.float64(2), False),
    "numbers beyond f32": (1e300, -1e39, np.float64(1e300), float("nan"), float("-inf"), 3.40282353e38, np.array([1e300, 1.0])),
    "layouts": (X, X[::-1], np.arange(6, dtype=np.float32)[::2], np.broadcast_to(np.float32(2), (3,)), jnp.asarray(X), X),
    "widths": (X, X.astype(np.float64), X.astype(np.int64), X.astype(np.int32), jnp.asarray(X, jnp.int32), X.astype(np.float16)),
    "subclasses": (X, np.ma.array(X), X.view(np.recarray), X),
}


@pytest.mark.parametrize("function", [lambda a: a, lambda a: a * 2], ids=["as it is", "doubled"])
@pytest.mark.parametrize("name", SEQUENCES)
def test_calls_in_any_order(name, function):
    mine, theirs = bjit(function), jax.jit(function)
    for argument in SEQUENCES[name]:
        same(mine(argument), theirs(argument))


def test_arrays_and_tensors_of_baton_take_turns():
    tensor = baton.device("local-sync").tensor(X)
    for order in ((X, tensor, X), (tensor, X, tensor)):
        jitted = bjit(lambda a: a * 2)
        for each in order:
            np.testing.assert_array_equal(jitted(each), X * 2)


@pytest.mark.parametrize("first", [np.float32(1), np.array(1, np.float32)])
def test_no_result_is_the_callers_array(first):
    jitted = bjit(lambda a: a)
    jitted(first)
    mine = np.array(7, np.float32)
    got = jitted(mine)
    mine[...] = 9
    assert got == 7


class Described:
    shape, dtype = (3,), np.dtype(np.float32)


@pytest.mark.parametrize("argument, said", [(jax.ShapeDtypeStruct((3,), np.float32), "a shape without numbers"), (np.float16, "np.float16|numpy.float16|'type'"),
                                            (Described(), "Described"), (np.zeros(3, "datetime64[s]"), "ndarray"), ("text", "str")])
def test_what_is_no_array_is_refused_by_name(argument, said):
    jitted = bjit(lambda a: a)
    for _ in range(2):
        with pytest.raises(TypeError, match=said):
            jitted(argument)
        jitted(X)  # Of the same shape and type, and it leaves nothing that would take the other.


# Types that a program has in another form ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["int4", "uint4", "int2", "uint2"])
def test_integers_of_less_than_a_byte(name):
    dtype = getattr(jnp, name)
    low, high = int(jnp.iinfo(dtype).min), int(jnp.iinfo(dtype).max)
    numbers = np.arange(low, high + 1)

    def function(q, scale, wide):
        made = wide.astype(dtype)  # It wraps.
        return q, made, q.astype(jnp.float32) * scale, q + q, (q > 0, {"sum": q.astype(jnp.int32).sum()}), jnp.zeros((2, 0), dtype), jnp.ones((), dtype)

    for q in (jnp.asarray(numbers, dtype), numbers.astype(dtype)):
        same(bjit(function)(q, 0.5, np.arange(-20, 20)), jax.jit(function)(q, 0.5, np.arange(-20, 20)))
    turned = bjit(lambda q: q[::-1], sizes=("n",))
    for count in (2, len(numbers)):
        same(turned(numbers[:count].astype(dtype)), jnp.asarray(numbers[:count], dtype)[::-1])
    donated = jnp.asarray(numbers, dtype)
    same(bjit(lambda q: q.at[0].set(1), donate_argnums=0)(donated), jnp.asarray(numbers, dtype).at[0].set(1))
    assert donated.is_deleted()
    same(bjit(lambda q: lax.scan(lambda c, each: (c + each, c), q[0], q))(q), jax.jit(lambda q: lax.scan(lambda c, each: (c + each, c), q[0], q))(q))


def test_gradients_of_integers():
    def function(x, n):
        _, pull = jax.vjp(lambda x, n: (x * n).sum(), x, n)
        return pull(1.0), jax.jvp(lambda x, n: (x * 2, n + 1), (x, n), (x, np.zeros(n.shape, jax.dtypes.float0)))

    same(bjit(function)(X, np.arange(3)), jax.jit(function)(X, np.arange(3)))
    nothing = np.zeros((2, 3), jax.dtypes.float0)
    same(bjit(lambda a, b: (a, b + 1))(nothing, X), jax.jit(lambda a, b: (a, b + 1))(nothing, X))


# Settings of JAX that a trace depends on --------------------------------------------------------------------------------


def test_a_program_is_one_of_the_settings():
    draw = lambda key: jax.random.uniform(key, (4,))  # noqa: E731
    mine, theirs = bjit(draw), jax.jit(draw)
    for setting in (True, False, True):
        with jax.threefry_partitionable(setting):
            same(mine(jax.random.key(0)), theirs(jax.random.key(0)))
    draw = lambda: jax.random.bits(jax.random.key(1), (4,))  # noqa: E731
    mine, theirs = bjit(draw), jax.jit(draw)
    for setting in ("threefry2x32", "rbg", "threefry2x32"):
        with jax.default_prng_impl(setting):
            same(mine(), theirs())
    add = bjit(lambda a, b: a + b)
    add(X, np.int32(1))
    with jax.numpy_dtype_promotion("strict"), pytest.raises(Exception, match="promotion"):
        add(X, np.int32(1))
    assert len(add._ready) == 1


@pytest.mark.parametrize("sizes, error, said", [(3, TypeError, "sizes= is a tuple"), (("n", "m"), ValueError, "names those of 2 arguments, and 1"),
                                                (("n, m",), ValueError, "more dimensions"), (("4",), ValueError, "4")])
def test_sizes_that_do_not_fit(sizes, error, said):
    with pytest.raises(error, match=said):
        bjit(lambda a: a, sizes=sizes)(X)


def test_sizes_of_an_argument_without_dimensions():
    with pytest.raises(ValueError, match="more dimensions"):
        bjit(lambda a: a, sizes=("n",))(np.float32(3))
