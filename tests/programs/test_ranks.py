"""JAX functions for several devices, as ranks that are processes of this machine, against JAX on as many devices of its own."""
import os
import shutil
import subprocess
import sys
import warnings

# Before JAX makes its devices.
os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + " --xla_force_host_platform_device_count=4"

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


def on_mesh(function, inputs, outputs, axes=((2,), ("i",)), **options):
    count = int(np.prod(axes[0]))
    mesh = jax.make_mesh(*axes, axis_types=(AxisType.Auto,) * len(axes[0]), devices=jax.devices()[:count])
    return jax.jit(jax.shard_map(function, mesh=mesh, in_specs=inputs, out_specs=outputs, check_vma=False, **options))


def part(value, spec, rank, axes=((2,), ("i",))):
    place = dict(zip(axes[1], np.unravel_index(rank, axes[0])))
    for dimension, names in enumerate(spec):
        for name in (names,) if isinstance(names, str) else names or ():
            value = np.split(np.asarray(value), axes[0][axes[1].index(name)], dimension)[place[name]]
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


def check(tmp_path, function, arguments, inputs, outputs, axes=((2,), ("i",))):
    staged, count = on_mesh(function, inputs, outputs, axes), int(np.prod(axes[0]))
    expected = staged(*arguments)
    text = baton_jax.lower(staged, *[jax.ShapeDtypeStruct(each.shape, each.dtype) for each in arguments])
    given = [[part(value, spec, rank, axes) for value, spec in zip(arguments, inputs)] for rank in range(count)]
    for rank, got in enumerate(run_ranks(tmp_path, text, given, count, results=len(expected))):
        for i, (value, whole, spec) in enumerate(zip(got, expected, outputs)):
            wanted = part(whole, spec, rank, axes)
            if wanted.dtype == np.complex64:
                value = value.view(np.complex64)
            assert value.shape == wanted.shape
            np.testing.assert_allclose(value, wanted, rtol=1e-5, atol=1e-5, err_msg=f"result {i} of rank {rank}")


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
    staged = on_mesh(lambda x: (lax.psum(x.astype(kind), "i").astype(jnp.float32),), (ROWS,), (ALL,))
    text = baton_jax.lower(staged, jax.ShapeDtypeStruct((4,), np.float32))
    (first,), (second,) = run_ranks(tmp_path, text, [[np.float32([1, 2])], [np.float32([3, 4])]])
    assert first.tolist() == second.tolist() == [4, 6]


def test_a_training_step_on_halves_of_a_batch(tmp_path):
    def step(w, x, y):
        loss, slope = jax.value_and_grad(lambda w: jnp.mean((jnp.tanh(x @ w) - y) ** 2))(w)
        return w - 0.1 * lax.pmean(slope, "i"), lax.pmean(loss, "i")

    check(tmp_path, step, (W, X, np.ones((4, 4), np.float32)), (ALL, ROWS, ROWS), (ALL, ALL))


SQUARE, EACH = ((2, 2), ("i", "j")), P(("i", "j"))
KINDS = ["bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "float16", "bfloat16", "float32", "complex64"]


@pytest.mark.parametrize("axis", ["i", "j", ("i", "j"), ("j", "i")], ids=str)
def test_groups_of_a_mesh(tmp_path, axis):
    """Along one axis ranks work in groups of two, along both all of them together, in the order of the axes."""
    def grouped(x):
        return (lax.psum(x, axis), lax.pmean(x, axis), lax.pmax(x, axis), lax.pmin(x, axis), lax.all_gather(x, axis), lax.all_gather(x, axis, axis=1),
                lax.all_gather(x, axis, axis=0, tiled=True), lax.all_gather(x, axis, axis=1, tiled=True), lax.psum_scatter(x, axis, tiled=True),
                lax.psum_scatter(x, axis, scatter_dimension=1, tiled=True), lax.all_to_all(x, axis, 0, 1, tiled=True), lax.all_to_all(x, axis, 1, 0, tiled=True),
                lax.axis_index(axis)[None], lax.psum(lax.all_gather(x, "j"), "i"), lax.psum(1, axis) * x)

    def turned(x):
        size = lax.axis_size(axis)
        return (*grouped(x), lax.ppermute(x, axis, [(k, (k + 1) % size) for k in range(size)]), lax.ppermute(x, axis, [(0, 1)]), lax.ppermute(x, axis, []),
                lax.fori_loop(0, 3, lambda k, y: y + lax.pmean(y * k, axis), x))

    x = np.arange(128, dtype=np.float32).reshape(16, 8) - 50
    check(tmp_path, turned, (x,), (EACH,), (EACH,) * 19, SQUARE)


def test_three_ranks(tmp_path):
    def odd(x):
        return (lax.psum(x, "i"), lax.all_gather(x, "i"), lax.psum_scatter(x, "i", scatter_dimension=1, tiled=True), lax.all_to_all(x, "i", 1, 0, tiled=True),
                lax.ppermute(x, "i", [(0, 1), (1, 2), (2, 0)]), lax.ppermute(x, "i", [(2, 0)]), lax.axis_index("i")[None],
                lax.psum(x[0, 0], "i")[None], lax.psum(x[:0], "i"), lax.all_gather(x[:0], "i"))

    check(tmp_path, odd, (np.arange(27, dtype=np.float32).reshape(9, 3),), (ROWS,), (ROWS,) * 10, ((3,), ("i",)))


@pytest.mark.parametrize("kind", KINDS)
def test_what_ranks_exchange(tmp_path, kind):
    def exchanged(x):
        x = x * lax.complex(1., 2.) if kind == "complex64" else x > 0 if kind == "bool" else x.astype(kind)
        moved = [lax.all_gather(x, "j"), lax.all_to_all(x, "i", 0, 0, tiled=True), lax.ppermute(x, "j", [(0, 1), (1, 0)])]
        summed = [lax.psum(x, "i")] + ([] if kind == "bool" else [lax.psum_scatter(x, "j", tiled=True)])
        compared = [] if kind == "complex64" else [lax.pmax(x, "i"), lax.pmin(x, ("j", "i"))]
        made = moved + summed + compared
        return tuple(each.astype(jnp.float32) if kind in ("bool", "bfloat16") else each for each in made)

    x = (np.arange(32, dtype=np.float32) * 37 % 251 - (0 if kind.startswith("u") else 120)).reshape(16, 2)
    count = 6 if kind == "bool" else 5 if kind == "complex64" else 7
    check(tmp_path, exchanged, (x,), (EACH,), (EACH,) * count, SQUARE)


def test_slopes_through_collectives(tmp_path):
    """A layer cut by units along one axis and by rows along the other, and its slopes."""
    def loss(w, x):
        y = lax.psum(jnp.tanh(x @ w) @ jnp.swapaxes(w, 0, 1), "j")
        gathered = lax.all_gather(lax.ppermute(y, "i", [(0, 1), (1, 0)]), "i", tiled=True)
        return lax.psum(jnp.mean(gathered ** 2) + jnp.mean(lax.psum_scatter(x, "j", scatter_dimension=1, tiled=True)), ("i", "j"))

    def step(w, x):
        value, (of_w, of_x) = jax.value_and_grad(loss, argnums=(0, 1))(w, x)
        return value[None], lax.psum(of_w, "i"), lax.psum(of_x, "j")

    check(tmp_path, step, (W / 4, X / 8), (P(None, "j"), ROWS), (P(), P(None, "j"), P(("i",), None)), SQUARE)


@pytest.mark.skipif(not shutil.which("mpirun"), reason="there is no mpirun here")
def test_ranks_of_mpirun(tmp_path):
    text = baton_jax.lower(on_mesh(lambda x: lax.psum(x, "i"), (ROWS,), ALL), jax.ShapeDtypeStruct((4,), np.float32))
    given = [[np.float32([1, 2])], [np.float32([3, 4])]]
    (first,), (second,) = run_ranks(tmp_path, text, given, start=by_mpirun)
    assert first.tolist() == second.tolist() == [4, 6]


def test_another_number_of_ranks_is_refused(tmp_path):
    text = baton_jax.lower(on_mesh(lambda x: lax.psum(x, "i"), (ROWS,), ALL), jax.ShapeDtypeStruct((4,), np.float32))
    with pytest.raises(tools.ToolFailed, match="this program is for 2 ranks"):
        run_ranks(tmp_path, text, [[np.ones(2, np.float32)]], count=1)


@pytest.mark.parametrize("function, sentence", [
    (lambda x: on_mesh(lambda x: lax.psum(x, "i"), (P("i"),), P(), (((1, 2), ("j", "i"))))(x) + 1, "only a part of the function"),
    (on_mesh(lambda x: lax.psum(x, "i"), (P("i"),), P(), ((1, 2), ("j", "i")), axis_names={"i"}), "leaves the axes j to a partitioner"),
    (on_mesh(lambda x: lax.all_gather(x.astype(jnp.int4), "i").astype(jnp.int8), (P("i"),), P()), "all_gather of i4 is not lowered"),
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
        baton_jax.lower(on_mesh(lambda x: lax.psum(x, "i"), ROWS, ALL), X)
