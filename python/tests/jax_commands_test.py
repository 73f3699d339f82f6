"""Ten JAX functions with commands: jax.ffi.ffi_call inside baton.jax.jit, of modules in Python and of a plugin in C.

What surrounds a call is JAX's: attributes of every type, several results, aliases, loops, vmap, gradients, unknown sizes. Each
function is compared with the same one in JAX alone, where the command is written out.
"""
import os
import pathlib
import shutil
import subprocess

import numpy as np
import pytest

import baton

jax = pytest.importorskip("jax", reason="JAX is not installed")
pytest.importorskip("baton.jax", reason="baton.jax is not in this tree")
jnp, lax, ffi_call = jax.numpy, jax.lax, jax.ffi.ffi_call
ROOT = pathlib.Path(__file__).resolve().parents[2]


pytestmark = pytest.mark.usefixtures("own_cache")


@pytest.fixture(scope="module", autouse=True)
def narrow():
    jax.config.update("jax_enable_x64", False)


@pytest.fixture(scope="module")
def vector(tmp_path_factory):
    """The plugin in C."""
    compiler = shutil.which("cc")
    if compiler is None or not (ROOT / "modules/sdk/module.h").exists():
        pytest.skip("the plugin in C needs cc and the headers of the source tree")
    path = tmp_path_factory.mktemp("plugins") / "vector.so"
    subprocess.run([compiler, "-O1", "-shared", "-fPIC", f"-I{ROOT}", ROOT / "python/tests/plugins/vector.c", "-o", path], check=True)
    return str(path)


def bjit(*arguments, **keywords):
    import baton.jax
    keywords.setdefault("device", "local-task")
    return baton.jax.jit(*arguments, **keywords)


def like(x, dtype=None):
    return jax.ShapeDtypeStruct(x.shape, dtype or x.dtype)


def on_host(function, dtype=np.float32):
    """A command that calls `function(x, ..., y)` with arrays of NumPy, numbers and bytes in their places."""
    def command(commands, *arguments):
        bindings = [each for each in arguments if isinstance(each, baton.Binding)]

        def run(*views):
            arrays = iter([np.frombuffer(view, dtype) for view in views])
            function(*[next(arrays) if isinstance(each, baton.Binding) else each for each in arguments])

        commands.host(run, *bindings)

    return command


def twice(x, y):
    y[:] = 2 * x


PYTHON = baton.module("py", {"twice": on_host(twice)})
X = np.arange(12, dtype=np.float32).reshape(3, 4)


def python_twice(x, **options):
    return ffi_call("py.twice", like(x), **options)(x)


def check(got, wanted, tolerance=1e-6):
    assert jax.tree.structure(got) == jax.tree.structure(wanted)
    for mine, theirs in zip(jax.tree.leaves(got), jax.tree.leaves(wanted)):
        assert (mine.dtype, mine.shape) == (theirs.dtype, theirs.shape)
        np.testing.assert_allclose(np.asarray(mine), np.asarray(theirs), tolerance, tolerance)


# 1. Attributes -------------------------------------------------------------------------------------------------------


def test_01_attributes_of_every_type():
    seen = []

    def command(commands, x, *rest):
        seen.append(rest[:-1])
        commands.copy_buffer(x, rest[-1])

    def function(x):
        return ffi_call("py.log", like(x))(x, a_flag=True, b_small=np.int8(-3), c_byte=np.uint8(200), d_int=7, e_long=np.int64(2**40), f_half=np.float16(1.5),
                                           g_float=np.float32(2.5), h_double=0.1, i_text="fäst", j_ints=np.array([1, -2, 300], np.int16),
                                           k_floats=np.array([[1, 2], [3, 4]], np.float32), l_flags=np.array([True, False]), m_none=np.zeros(0, np.int32),
                                           n={"z": 2, "a": "in", "m": np.float32(4)}, o_wide=np.uint32(2**32 - 1))

    check(bjit(function, libraries=[baton.module("py", {"log": command})])(X), X)
    (flag, small, byte, int_, long, half, float_, double, text, ints, floats, flags, none, a, m, z, wide), = seen
    assert (flag, small, byte, int_, long, half, float_, double) == (1, -3, 200, 7, 2**40, 1.5, 2.5, 0.1)
    assert text.decode() == "fäst" and np.frombuffer(ints, np.int16).tolist() == [1, -2, 300]
    assert np.frombuffer(floats, np.float32).tolist() == [1, 2, 3, 4] and bytes(flags) == b"\1\0" and bytes(none) == b""
    assert (a.decode(), m, z) == ("in", 4.0, 2) and wide & 0xffffffff == 2**32 - 1


def test_01_attributes_in_c(vector):
    def function(x, mode):
        return ffi_call("vector.named", jax.ShapeDtypeStruct((), np.float32))(x, mode=mode, weights=np.array([1, 2, 3], np.float32))

    run = bjit(function, libraries=[vector], static_argnums=1)
    check((run(X[0, 1:], "sum"), run(X[0, 1:], "mean")), (jnp.float32(14), jnp.float32(14 / 3)))


# 2. Several results, of several types --------------------------------------------------------------------------------


def test_02_several_results(vector):
    def split(commands, x, small, large, places):
        def run(x, small, large, places):
            x = np.frombuffer(x, np.float32)
            np.frombuffer(small, np.float32)[:] = x.min()
            np.frombuffer(large, np.int32)[:] = int(x.max())
            np.frombuffer(places, np.uint8)[:] = x > 2

        commands.host(run, x, small, large, places)

    def function(x):
        small, large, places = ffi_call("py.split", (jax.ShapeDtypeStruct((), np.float32), jax.ShapeDtypeStruct((1,), np.int32), like(x, bool)))(x * 2)
        total, squares = ffi_call("vector.moments", [jax.ShapeDtypeStruct((), np.float32)] * 2)(x)
        return small + 1, large * 2, places.sum(), ~places, total / squares

    got = bjit(function, libraries=[baton.module("py", {"split": split}), vector])(X)
    check(got, (jnp.float32(1), jnp.array([44]), jnp.int32(10), X * 2 <= 2, jnp.float32(X.sum() / (X**2).sum())))


def test_02_a_name_with_a_suffix():
    """What stands behind a $ tells calls apart that the program's text wants apart; the command is the same."""
    double = on_host(lambda x, y: np.multiply(x, 2, out=y))

    def function(x):
        y = ffi_call("py.double$first", like(x))(x)
        z = ffi_call("py.double$first", like(x))(y)
        return z, ffi_call("py.double$second", like(x))(x), ffi_call("py.double", like(x[0]))(x[0])

    check(bjit(function, libraries=[baton.module("py", {"double": double})])(X), (X * 4, X * 2, X[0] * 2))


# 3. Aliases ----------------------------------------------------------------------------------------------------------


def test_03_results_in_place():
    def bump(commands, x, by):
        commands.host(lambda x: np.add(np.frombuffer(x, np.float32), by, out=np.frombuffer(x, np.float32)), x)

    def both(commands, a, b, c):
        def run(a, b, c):
            a, b, c = (np.frombuffer(each, np.float32) for each in (a, b, c))
            c[:] = a + b
            a *= 10

        commands.host(run, a, b, c)

    module = baton.module("py", {"bump": bump, "both": both})

    def function(x):
        y = x + 1
        z = ffi_call("py.bump", like(y), input_output_aliases={0: 0})(y, by=np.float32(5))
        return y, z, z * 2

    check(bjit(function, libraries=[module])(X), (X + 1, X + 6, (X + 6) * 2))  # What else reads y sees it as it was.
    x = X.copy()
    check(bjit(lambda x: ffi_call("py.bump", like(x), input_output_aliases={0: 0})(x, by=np.float32(5)), libraries=[module])(x), X + 5)
    np.testing.assert_array_equal(x, X)  # An argument that nobody donated stays.
    donated = jnp.array(X)
    check(bjit(lambda x: ffi_call("py.bump", like(x), input_output_aliases={0: 0})(x, by=np.float32(5)), libraries=[module], donate_argnums=0)(donated), X + 5)
    check(bjit(lambda a, b: ffi_call("py.both", (like(a), like(a)), input_output_aliases={0: 0})(a, b), libraries=[module])(X, X), (X * 10, X * 2))


# 4. Loops and branches -----------------------------------------------------------------------------------------------


def test_04_in_loops(vector):
    def affine(x):
        return ffi_call("vector.affine", like(x))(x, a=np.float32(0.5), b=np.float32(1))

    def function(x, n, flag):
        a = lax.fori_loop(0, n, lambda i, v: affine(v) + i, x)
        b = lax.scan(lambda c, row: (affine(c) + row, affine(row)), x[0], x)
        c = lax.while_loop(lambda v: v.sum() > 30, affine, x)
        return a, b, c, lax.cond(flag, affine, lambda v: v, x)

    run = bjit(function, libraries=[vector])

    def plain(x):
        return x * 0.5 + 1

    for n, flag in ((3, True), (0, False), (1, True)):
        a, c, rows = X, X, X[0]
        for i in range(n):
            a = plain(a) + i
        while c.sum() > 30:
            c = plain(c)
        for row in X:
            rows = plain(rows) + row
        check(run(X, n, flag), (a, (rows, plain(X)), c, plain(X) if flag else X))


# 5. vmap -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["sequential", "sequential_unrolled", "broadcast_all", "expand_dims"])
def test_05_under_vmap(method):
    shapes = []

    def product(commands, x, w, y):
        def run(x, w, y):
            x, w, y = (np.frombuffer(each, np.float32) for each in (x, w, y))
            shapes.append((x.size, w.size, y.size))
            y[:] = np.resize(x, y.size) * np.resize(w, y.size)

        commands.host(run, x, w, y)

    def one(x, w):
        return ffi_call("py.product", like(jnp.broadcast_to(x, jnp.broadcast_shapes(x.shape, w.shape))), vmap_method=method)(x, w)

    w = np.array([1, 2, 3, 4], np.float32)
    check(bjit(jax.vmap(one, (0, None)), libraries=[baton.module("py", {"product": product})])(X, w), X * w)
    assert len(shapes) == (3 if method.startswith("sequential") else 1)


# 6. Gradients --------------------------------------------------------------------------------------------------------


def test_06_under_grad(vector):
    @jax.custom_vjp
    def cubed(x):
        return ffi_call("py.cube", like(x))(x)

    cubed.defvjp(lambda x: (cubed(x), x), lambda x, g: (ffi_call("py.slope", like(x))(x, g),))
    module = baton.module("py", {"cube": on_host(lambda x, y: y.__setitem__(slice(None), x**3)),
                                 "slope": on_host(lambda x, g, y: y.__setitem__(slice(None), 3 * x**2 * g))})

    def loss(w, x):
        return cubed(jnp.tanh(x @ w)).sum() + ffi_call("vector.affine", like(x), vmap_method="sequential")(lax.stop_gradient(x), a=np.float32(2), b=np.float32(0)).sum()

    def plain(w, x):
        return (jnp.tanh(x @ w)**3).sum() + 2 * lax.stop_gradient(x).sum()

    w = np.linspace(-0.1, 0.1, 8, dtype=np.float32).reshape(4, 2)
    check(bjit(jax.value_and_grad(loss), libraries=[module, vector])(w, X), jax.value_and_grad(plain)(w, X), 1e-4)


# 7. Sizes that are not known -----------------------------------------------------------------------------------------


def test_07_of_any_size():
    def twined(commands, x, y, both, one):
        def run(x, y, both, one):
            x, y, both, one = (np.frombuffer(each, np.float32) for each in (x, y, both, one))
            both[0::2], both[1::2], one[:] = x, y, x.sum()

        commands.host(run, x, y, both, one)

    def function(x, y):
        count = x.shape[0]
        both, one = ffi_call("py.twined", (jax.ShapeDtypeStruct((2 * count,), x.dtype), jax.ShapeDtypeStruct((1,), x.dtype)))(x, y)
        return both * 2, one

    run = bjit(function, libraries=[baton.module("py", {"twined": twined})], sizes=("n", "n"))
    for count in (3, 1, 6):
        x = np.arange(count, dtype=np.float32)
        check(run(x, x + 10), (np.stack([x, x + 10], 1).reshape(-1) * 2, x.sum(keepdims=True)))
    fixed = bjit(function, libraries=[baton.module("py", {"twined": twined})])  # The same command, of known sizes.
    check(fixed(X[0], X[1]), (np.stack([X[0], X[1]], 1).reshape(-1) * 2, X[0].sum(keepdims=True)))


# 8. Layouts and element types ----------------------------------------------------------------------------------------


def test_08_layouts():
    def raw(commands, x, y):
        commands.copy_buffer(x, y)

    def function(x):
        by_columns = ffi_call("py.raw", jax.ShapeDtypeStruct((12,), x.dtype), input_layouts=[(1, 0)])(x)
        back = ffi_call("py.raw", jax.ShapeDtypeStruct((3, 4), x.dtype), output_layouts=(1, 0))(by_columns)
        return by_columns, back

    check(bjit(function, libraries=[baton.module("py", {"raw": raw})])(X), (X.T.reshape(-1), X))


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16", "int32", "uint32", "float16", "bfloat16", "bool"])
def test_08_element_types(dtype):
    sizes = []

    def copy(commands, x, y):
        sizes.append((x.nbytes, y.nbytes))
        commands.copy_buffer(x, y)

    x = jnp.asarray(X > 2 if dtype == "bool" else X).astype(dtype)
    got = bjit(lambda x: ffi_call("py.copy", like(x))(x), libraries=[baton.module("py", {"copy": copy})])(x)
    assert got.dtype == x.dtype and np.array_equal(np.asarray(got), np.asarray(x))
    assert sizes == [(x.nbytes, x.nbytes)]


# 9. Several types of one command, several modules, effects -----------------------------------------------------------


def test_09_one_command_of_several_types():
    def copy(commands, x, y):
        commands.copy_buffer(x, y)

    def function(x):
        def same(v):
            return ffi_call("py.copy", like(v))(v)

        return same(x), same(x[0]), same(x.astype(jnp.int32)), same(x) + same(x[:2, :1]).sum()

    check(bjit(function, libraries=[baton.module("py", {"copy": copy})])(X), (X, X[0], X.astype(np.int32), X + X[:2, :1].sum()))


def test_09_a_command_without_results_runs():
    seen = []

    def log(commands, x, tag):
        commands.host(lambda x: seen.append((tag.decode(), np.frombuffer(x, np.float32).sum())), x)

    def function(x):
        ffi_call("py.log", (), has_side_effect=True)(x + 1, tag="before")
        return x * 2

    run = bjit(function, libraries=[baton.module("py", {"log": log})])
    for _ in range(2):
        check(run(X), X * 2)
    assert seen == [("before", X.sum() + 12)] * 2


# 10. What is wrong is told with its line -----------------------------------------------------------------------------


def line_of(function, offset=1):
    return f"{os.path.basename(__file__)}:{function.__code__.co_firstlineno + offset}"


def test_10_wrong_calls(vector):
    import baton.jax

    def absent(x):
        return ffi_call("vector.absent", like(x))(x)

    def missing(x):
        return ffi_call("vector.affine", like(x))(x, a=np.float32(1))

    def numbers(x):
        return ffi_call("vector.affine", like(x))(x, a=1, b=2)

    def results(x):
        return ffi_call("vector.affine", (like(x), like(x)))(x, a=np.float32(1), b=np.float32(1))

    def broken(x):
        return ffi_call("vector.broken", like(x))(x)

    for function, sentence in ((absent, "absent"), (missing, "affine"), (numbers, "affine"), (results, "affine"), (broken, "The vector is broken")):
        with pytest.raises(baton.StatusError, match=sentence) as error:
            bjit(function, libraries=[vector])(X)
        assert line_of(function) in "\n".join([str(error.value), *getattr(error.value, "__notes__", [])]), (function, error.value)

    def complex_numbers(x):
        return ffi_call("py.copy", like(x))(x)

    def two_kinds(x):
        return ffi_call("py.copy", like(x))(x), ffi_call("py.copy", like(x))(x, more=1)

    def nobody(x):
        return ffi_call("nobody", like(x))(x)

    for function, argument, sentence in ((complex_numbers, X.astype(np.complex64), "of complex numbers"), (two_kinds, X, "arguments of the same kinds"),
                                         (nobody, X, "only commands are")):
        with pytest.raises(baton.jax.NotLowered, match=sentence) as error:
            bjit(function)(argument)
        assert line_of(function) in str(error.value)


def test_10_a_module_that_is_not_there():
    def function(x):
        return ffi_call("nowhere.at_all", like(x))(x)

    with pytest.raises(baton.StatusError, match="nowhere") as error:
        bjit(function)(X)
    assert line_of(function) in "\n".join([str(error.value), *getattr(error.value, "__notes__", [])])
