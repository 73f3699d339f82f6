"""baton.jax.jit: functions agree with JAX, are compiled once, and record commands of Python."""
import os
import platform
import subprocess
import sys

import numpy as np
import pytest

import baton

jax = pytest.importorskip("jax", reason="JAX is not installed")
pytest.importorskip("baton.jax", reason="baton.jax is not in this tree")
jnp = jax.numpy


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    jax.config.update("jax_enable_x64", False)
    monkeypatch.setenv("BATON_CACHE", str(tmp_path))
    try:
        baton._tools.find("baton-compile")
    except FileNotFoundError as error:
        pytest.skip(str(error))
    return tmp_path


def jit(*arguments, **keywords):
    from baton._jit import jit as make
    return make(*arguments, **keywords)


X = np.linspace(-1, 1, 12, dtype=np.float32).reshape(3, 4)
FUNCTIONS = {
    "elementwise": (lambda x: jnp.tanh(x) * 2 + 1, (X,)),
    "product": (lambda x, y: x @ y.T, (X, X)),
    "softmax": (lambda x: jax.nn.softmax(x), (X,)),
    "layer_norm": (lambda x: (x - x.mean(-1, keepdims=True)) / jnp.sqrt(x.var(-1, keepdims=True) + 1e-5), (X,)),
    "several": (lambda x: (x.sum(), x.max(0), {"argmax": x.argmax(1)}), (X,)),
    "tree": (lambda p, x: {"y": x @ p["w"] + p["b"]}, ({"w": X.T, "b": np.ones(3, np.float32)}, X)),
    "numbers": (lambda x, a, b: a * x + b, (X, 2.0, 1)),
    "unused": (lambda x, y: x + 1, (X, X)),
    "gradient": (jax.grad(lambda x: (x**2).sum()), (X,)),
    "scan": (lambda x: jax.lax.scan(lambda c, r: (c + r, c * r), jnp.zeros(4), x), (X,)),
    "integers": (lambda x: (x // 2, x % 3, x > 1), (np.arange(6, dtype=np.int32),)),
    "nothing": (lambda x: (), (X,)),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_agree_with_jax(name):
    function, arguments = FUNCTIONS[name]
    got, wanted = jit(function, device="local-sync")(*arguments), jax.jit(function)(*arguments)
    assert jax.tree.structure(got) == jax.tree.structure(wanted)
    for mine, theirs in zip(jax.tree.leaves(got), jax.tree.leaves(wanted)):
        assert isinstance(mine, jax.Array) and (mine.dtype, mine.shape) == (theirs.dtype, theirs.shape)
        np.testing.assert_allclose(np.asarray(mine), np.asarray(theirs), rtol=1e-5, atol=1e-6)


def test_each_set_of_shapes_is_compiled_once_and_kept(cache):
    seen = []

    def traced(x):
        seen.append(x.shape)
        return x + 1

    function = jit(traced, device="local-sync")
    for count in (3, 4, 3, 4):
        assert function(jnp.zeros(count)).tolist() == [1] * count
    assert set(seen) == {(3,), (4,)}
    assert len(list(cache.glob("*.program"))) == 2
    traces = len(seen)
    function(jnp.zeros(3))
    assert len(seen) == traces
    jit(traced, device="local-sync")(jnp.zeros(3))  # As a second process would.
    assert len(list(cache.glob("*.program"))) == 2


def test_a_command_of_python_in_a_jax_function():
    def twice(commands, x, y):
        def run(stream, source, target):
            np.frombuffer(target.view, np.float32)[:] = 2 * np.frombuffer(source.view, np.float32)

        commands.foreign(run, x, y)

    def function(x):
        doubled = jax.ffi.ffi_call("py.twice", jax.ShapeDtypeStruct(x.shape, x.dtype))(x + 1)
        return doubled * doubled

    run = jit(function, device="local-task", libraries=[baton.module("py", {"twice": twice})])
    assert run(jnp.arange(4.0)).tolist() == [4, 16, 36, 64]


SMALL = ["float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz", "float8_e4m3b11fnuz"]


@pytest.mark.parametrize("name", SMALL)
def test_floats_of_8_bits_keep_their_type(name):
    dtype = getattr(jnp, name)
    x = jnp.linspace(-3, 3, 24, dtype=jnp.float32).reshape(4, 6)
    small = x.astype(dtype)

    def function(x, small):
        return x.astype(dtype), small, small.astype(jnp.float32) * 2, (small + small).sum(0), {"empty": small[:0]}

    for given in (small, np.asarray(small)):
        for own, theirs in zip(jax.tree.leaves(jit(function, device="local-sync")(x, given)), jax.tree.leaves(jax.jit(function)(x, given))):
            assert own.dtype == theirs.dtype and own.shape == theirs.shape
            np.testing.assert_array_equal(np.asarray(own).view(np.uint8), np.asarray(theirs).view(np.uint8))
    donated = jit(lambda x: x.at[0].set(1), device="local-sync", donate_argnums=0)
    for _ in range(2):  # The second call may be given the first one's memory.
        given = jnp.array(small)
        result = donated(given)
        assert result.dtype == dtype and given.is_deleted() and result[0].tolist() == [1] * 6
        assert donated(result).dtype == dtype
    any_size = jit(lambda x: x.astype(dtype), device="local-sync", sizes="n, 6")
    assert any_size(x).dtype == dtype and any_size(x[:2]).shape == (2, 6)


def test_static_values_that_are_equal_and_of_other_types():
    function, plain = jit(lambda x, n: x * n, device="local-sync", static_argnums=1), jax.jit(lambda x, n: x * n, static_argnums=1)
    for value in (1, 1.0, True, np.float32(1), np.int8(1)):
        assert function(jnp.arange(3), value).dtype == plain(jnp.arange(3), value).dtype


@pytest.mark.parametrize("options, error, sentence", [
    ({"device": None}, TypeError, "a device is named by a text"), ({"libraries": 3}, TypeError, "libraries= takes one or a list"),
    ({"flags": 3}, TypeError, "flags= takes one or a list"), ({"sizes": "a, b, 4"}, ValueError, "more dimensions than the arguments have")])
def test_options_that_cannot_be(options, error, sentence):
    with pytest.raises(error, match=sentence):
        jit(lambda x: x + 1, **{"device": "local-sync", **options})(X)


@pytest.mark.parametrize("flag", ["-march=x86-64-v2", "--iree-llvmcpu-target-cpu=generic", "--iree_llvmcpu_target_cpu_features=-avx2", "--cpu-levels=baseline"])
def test_flags_may_name_the_processor(flag):
    """Nothing but that is compiled for, where this machine's is what else."""
    if platform.machine() != "x86_64":
        pytest.skip("names of x86_64")
    assert jit(lambda x: x * 2, device="local-sync", flags=[flag])(jnp.ones(3)).tolist() == [2, 2, 2]


def test_sizes_of_one_argument():
    function = jit(lambda x: x.sum(), device="local-sync", sizes="rows, 4")
    assert [float(function(np.ones((rows, 4), np.float32))) for rows in (1, 3)] == [4, 12]


def test_transformations_stay_inside():
    with pytest.raises(TypeError, match="outside of JAX's transformations"):
        jax.jit(jit(lambda x: x + 1, device="local-sync"))(X)


@pytest.mark.parametrize("damage", [lambda data: b"", lambda data: data[:-7], lambda data: data + b"x", lambda data: bytes(100),
                                    lambda data: data[:-200] + bytes([data[-200] ^ 1]) + data[-199:], lambda data: data.partition(b"\n")[2]])
def test_kept_files_that_were_damaged_are_as_if_they_were_not_there(cache, damage):
    for _ in range(2):  # What the damaged ones are replaced by is whole.
        assert jit(lambda x: x * 3 + 1, device="local-sync")(jnp.ones(3)).tolist() == [4, 4, 4]
        kept = {path: path.read_bytes() for path in cache.iterdir()}
        for path, data in kept.items():
            path.write_bytes(damage(data))
    assert jit(lambda x: x * 3 + 1, device="local-sync")(jnp.ones(3)).tolist() == [4, 4, 4]
    assert {path: path.read_bytes() for path in cache.iterdir()} == kept


def test_a_kept_file_under_the_name_of_another(cache):
    jit(lambda x: x * 3, device="local-sync")(jnp.ones(3))
    first, = cache.glob("*.kept")
    jit(lambda x: x * 5, device="local-sync")(jnp.ones(3))
    second, = set(cache.glob("*.kept")) - {first}
    first.write_bytes(second.read_bytes())
    assert jit(lambda x: x * 3, device="local-sync")(jnp.ones(3)).tolist() == [3, 3, 3]
    first.unlink()
    first.symlink_to(second)
    assert jit(lambda x: x * 3, device="local-sync")(jnp.ones(3)).tolist() == [3, 3, 3]
    first.unlink()
    os.mkfifo(first)
    assert jit(lambda x: x * 3, device="local-sync")(jnp.ones(3)).tolist() == [3, 3, 3]


def test_a_folder_that_cannot_be_written(monkeypatch):
    monkeypatch.setenv("BATON_CACHE", "/proc/none")
    assert float(jit(lambda x: x + 1, device="local-sync")(1.0)) == 2


def test_results_of_a_function_that_is_gone():
    result = jit(lambda x: x * 2, device="local-task")(jnp.ones(1000))
    assert float(result.sum()) == 2000


def test_lowering_needs_no_extension(tmp_path):
    import baton.jax
    import pathlib
    (tmp_path / "baton").mkdir()
    (tmp_path / "baton/__init__.py").write_text(pathlib.Path(baton.__file__).read_text())
    (tmp_path / "baton/jax").symlink_to(pathlib.Path(baton.jax.__file__).resolve().parent)
    code = "import baton.jax, jax; print('func.func' in baton.jax.lower(lambda x: x + 1, jax.numpy.ones(3)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path,
                          env={"PYTHONPATH": str(tmp_path), "PATH": "/usr/bin:/bin", "JAX_PLATFORMS": "cpu"}, check=False)
    assert done.stdout.strip() == "True", done.stderr
