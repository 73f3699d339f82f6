"""JAX functions for two devices, as two ranks that are processes of this machine, against JAX on two devices of its own."""
import os
import shutil
import subprocess
import sys
import warnings

# Before JAX makes its devices.
os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + " --xla_force_host_platform_device_count=2"

import pytest  # noqa: E402

jax = pytest.importorskip("jax", reason="JAX is not installed in this environment")
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
from jax import lax  # noqa: E402
from jax.sharding import AxisType, PartitionSpec as P  # noqa: E402

import tools  # noqa: E402

baton_jax = tools.baton_jax()
X = np.arange(32, dtype=np.float32).reshape(4, 8) - 7
W = np.cos(np.arange(32, dtype=np.float32)).reshape(8, 4)
ROWS, COLUMNS, ALL = P("i"), P(None, "i"), P()


def on_two(function, inputs, outputs, axes=((2,), ("i",)), **options):
    mesh = jax.make_mesh(*axes, axis_types=(AxisType.Auto,) * len(axes[0]), devices=jax.devices()[:2])
    return jax.jit(jax.shard_map(function, mesh=mesh, in_specs=inputs, out_specs=outputs, check_vma=False, **options))


def part(value, spec, rank):
    for dimension, name in enumerate(spec):
        if name:
            value = np.split(np.asarray(value), 2, dimension)[rank]
    return np.asarray(value)


def by_hand(tmp_path, count):
    return [sys.executable, tools.ROOT / "tests" / "support" / "run_ranks.py", count, f"file:{tmp_path}/ranks"]


def by_mpirun(tmp_path, count):
    return ["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", count]


def run_ranks(tmp_path, text, arguments, count=2, results=1, start=by_hand):
    """The results of each rank; `arguments` are by rank."""
    program = baton_jax.compile(text, tmp_path / "program.bvm", tools.TOOLS / "baton-compile", tools.FLAGS)
    command = [tools.TOOLS / "baton-run-module", f"--module={program}", f"--device={tools.DEVICE}", "--function=main"]
    for i, by_rank in enumerate(zip(*arguments)):
        for rank, value in enumerate(by_rank):
            np.save(tmp_path / f"in{i}_{rank}.npy", value)
        command.append(f"--input=@{tmp_path}/in{i}_{{rank}}.npy")
    command += [f"--output=@{tmp_path}/out{i}_{{rank}}.npy" for i in range(results)]
    done = subprocess.run([*map(str, [*start(tmp_path, count), *command])], capture_output=True, text=True, timeout=100)
    if done.returncode:
        raise tools.ToolFailed(done.stderr + done.stdout)
    return [[np.load(tmp_path / f"out{i}_{rank}.npy") for i in range(results)] for rank in range(count)]


def check(tmp_path, function, arguments, inputs, outputs):
    staged = on_two(function, inputs, outputs)
    expected = staged(*arguments)
    text = baton_jax.lower(staged, *[jax.ShapeDtypeStruct(each.shape, each.dtype) for each in arguments])
    given = [[part(value, spec, rank) for value, spec in zip(arguments, inputs)] for rank in range(2)]
    for rank, got in enumerate(run_ranks(tmp_path, text, given, results=len(expected))):
        for value, whole, spec in zip(got, expected, outputs):
            np.testing.assert_allclose(value, part(whole, spec, rank), rtol=1e-5, atol=1e-5)


def test_sums_and_others(tmp_path):
    def reduced(x, w):
        y = lax.psum(x @ w, "i")
        return y, lax.pmean(x, "i"), lax.pmax(x, "i"), lax.pmin(x, "i"), lax.psum(x[0], "i"), lax.axis_index("i")[None]

    check(tmp_path, reduced, (X, W), (COLUMNS, ROWS), (*(ALL,) * 5, ROWS))


def test_gathers_along_any_dimension(tmp_path):
    def gathered(x):
        return lax.all_gather(x, "i"), lax.all_gather(x, "i", axis=1, tiled=True), lax.all_gather(x, "i", axis=0, tiled=True)

    check(tmp_path, gathered, (X,), (COLUMNS,), (ALL,) * 3)


def test_scatters_and_exchanges(tmp_path):
    def exchanged(x):
        return (lax.psum_scatter(x, "i", scatter_dimension=1, tiled=True), lax.all_to_all(x, "i", 0, 1, tiled=True),
                lax.all_to_all(x, "i", 1, 0, tiled=True), lax.ppermute(x, "i", [(0, 1)]), lax.ppermute(x, "i", [(0, 1), (1, 0)]))

    check(tmp_path, exchanged, (X,), (ROWS,), (ROWS,) * 5)


def test_a_loop_of_steps(tmp_path):
    check(tmp_path, lambda x: (lax.fori_loop(0, 3, lambda i, y: y + lax.pmean(y * i, "i"), x),), (X,), (ROWS,), (ROWS,))


@pytest.mark.parametrize("kind", ["int32", "int8", "float16", "uint32", "bfloat16"])
def test_element_types(tmp_path, kind):
    staged = on_two(lambda x: (lax.psum(x.astype(kind), "i").astype(jnp.float32),), (ROWS,), (ALL,))
    text = baton_jax.lower(staged, jax.ShapeDtypeStruct((4,), np.float32))
    (first,), (second,) = run_ranks(tmp_path, text, [[np.float32([1, 2])], [np.float32([3, 4])]])
    assert first.tolist() == second.tolist() == [4, 6]


def test_a_training_step_on_halves_of_a_batch(tmp_path):
    def step(w, x, y):
        loss, slope = jax.value_and_grad(lambda w: jnp.mean((jnp.tanh(x @ w) - y) ** 2))(w)
        return w - 0.1 * lax.pmean(slope, "i"), lax.pmean(loss, "i")

    check(tmp_path, step, (W, X, np.ones((4, 4), np.float32)), (ALL, ROWS, ROWS), (ALL, ALL))


@pytest.mark.skipif(not shutil.which("mpirun"), reason="there is no mpirun here")
def test_ranks_of_mpirun(tmp_path):
    text = baton_jax.lower(on_two(lambda x: lax.psum(x, "i"), (ROWS,), ALL), jax.ShapeDtypeStruct((4,), np.float32))
    given = [[np.float32([1, 2])], [np.float32([3, 4])]]
    (first,), (second,) = run_ranks(tmp_path, text, given, start=by_mpirun)
    assert first.tolist() == second.tolist() == [4, 6]


def test_another_number_of_ranks_is_refused(tmp_path):
    text = baton_jax.lower(on_two(lambda x: lax.psum(x, "i"), (ROWS,), ALL), jax.ShapeDtypeStruct((4,), np.float32))
    with pytest.raises(tools.ToolFailed, match="this program is for 2 ranks"):
        run_ranks(tmp_path, text, [[np.ones(2, np.float32)]], count=1)


@pytest.mark.parametrize("function, sentence", [
    (lambda x: on_two(lambda x: lax.psum(x, "i"), (P("i"),), P(), (((1, 2), ("j", "i"))))(x) + 1, "only a part of the function"),
    (on_two(lambda x: lax.psum(x, "i"), (P("i"),), P("j"), ((2, 1), ("j", "i"))), "of the groups .*, not of all 2 ranks"),
    (on_two(lambda x: lax.psum(x, "i"), (P("i"),), P(), ((1, 2), ("j", "i")), axis_names={"i"}), "leaves the axes j to a partitioner"),
    (on_two(lambda x: lax.pmax(x.astype(jnp.uint8), "i"), (P("i"),), P()), "compare signed integers and floats"),
    (on_two(lambda x: lax.psum(x.astype(jnp.complex64), "i"), (P("i"),), P()), "complex"),
])
def test_what_is_refused_is_named(function, sentence):
    with pytest.raises(baton_jax.NotLowered, match=sentence):
        baton_jax.lower(jax.jit(function), jax.ShapeDtypeStruct((4,), np.float32))


def test_shardings_alone_are_told():
    """Without shard_map nothing is split: the program is the whole one on each rank, and a warning names what it says is split."""
    mesh = jax.make_mesh((2,), ("i",), axis_types=(AxisType.Auto,), devices=jax.devices()[:2])
    rows = jax.NamedSharding(mesh, ROWS)
    split = jax.jit(lambda x: x * 2, in_shardings=rows, out_shardings=rows)
    with pytest.warns(UserWarning, match="for 2 devices, over which it splits argument 0 of @main, .*has no shard_map"):
        text = baton_jax.lower(split, X)
    assert "tensor<4x8xf32>" in text
    constrained = jax.jit(lambda x: jax.lax.with_sharding_constraint(x * 2, rows))
    with pytest.warns(UserWarning, match="splits a constraint"):
        baton_jax.lower(constrained, X)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        whole = jax.NamedSharding(mesh, P())
        baton_jax.lower(jax.jit(lambda x: x * 2, in_shardings=whole), X)
        baton_jax.lower(on_two(lambda x: lax.psum(x, "i"), ROWS, ALL), X)
