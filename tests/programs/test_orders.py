"""Sorts and scatters of random sizes, types and keys, on both sides of the limits where another way is taken, against NumPy."""
import numpy as np
import pytest

jax = pytest.importorskip("jax", reason="JAX is not installed in this environment")
import jax.numpy as jnp  # noqa: E402
from jax import lax  # noqa: E402

import tools  # noqa: E402

KINDS = ["float32", "float64", "float16", "bfloat16", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "bool"]
# Rows and their lengths: counted, one lane, several lanes, no power of two, one more and one less than a limit.
SHAPES = [(3, 17), (1, 513), (40, 130), (2, 1024), (1, 2049), (20, 257), (5, 640), (1, 4100)]


def numbers(source, kind, shape):
    """Few different ones, so that many are equal, with the largest, the least and those that are no numbers."""
    kind = tools.np_bfloat16() if kind == "bfloat16" else np.dtype(kind)
    if kind == np.bool_:
        return source.integers(0, 2, shape).astype(kind)
    if kind.kind in "iu":
        ends = np.iinfo(kind)
        return source.choice(np.array([ends.min, ends.max, 0, 1, ends.max - 1, ends.min + 1, 77], kind), shape)
    special = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.5, -1.5], np.float64)
    return np.where(source.random(shape) < 0.3, source.choice(special, shape), source.normal(size=shape).round(1)).astype(kind)


def stable_order(rows, is_descending=False):
    """What argsort gives: numbers that are none last, zeros equal."""
    wide = rows.astype(np.float64) if rows.dtype.kind not in "iub" else rows
    if not is_descending:
        return np.argsort(wide, axis=-1, kind="stable")
    # The last of the order of what is turned round is the first, and equal ones keep their places.
    return rows.shape[-1] - 1 - np.argsort(wide[..., ::-1], axis=-1, kind="stable")[..., ::-1]


def run(function, arguments, wanted, folder):
    with jax.enable_x64(True):
        text = tools.baton_jax().lower(function, *arguments)
    (folder / "program.mlir").write_text(text)
    tools.compile_program(folder / "program.mlir", folder / "program.bvm")
    given = tools.call(folder / "program.bvm", "main", arguments, wanted, folder)
    for i, pair in enumerate(zip(wanted, given)):
        assert not (text := tools.difference(*pair)), f"result {i} {text}"


@pytest.mark.parametrize("seed", range(len(KINDS)))
def test_rows_in_order(seed, tmp_path):
    source = np.random.default_rng(seed)
    rows = numbers(source, KINDS[seed], SHAPES[seed % len(SHAPES)])
    other = numbers(source, KINDS[source.integers(len(KINDS))], rows.shape[::-1])
    few = int(source.integers(1, max(2, rows.shape[1] // 5)))
    orders = [stable_order(rows), stable_order(rows, True), stable_order(other.T).T]
    # Of floats the order of top_k is the total one: what is no number comes first.
    wanted = [*(order.astype(np.int32) for order in orders), np.take_along_axis(rows, orders[0], -1), stable_order(rows, True)[:, :few].astype(np.int32)]

    def function(rows, other):
        first = [] if rows.dtype == np.bool_ or rows.dtype.kind == "f" or rows.dtype.name == "bfloat16" else [lax.top_k(rows, few)[1].astype(np.int32)]
        return [jnp.argsort(rows).astype(np.int32), jnp.argsort(rows, descending=True).astype(np.int32), jnp.argsort(other, axis=0).astype(np.int32),
                jnp.sort(rows), *first]

    has_first = rows.dtype.kind in "iu"
    run(function, [rows, other], wanted if has_first else wanted[:-1], tmp_path)


@pytest.mark.parametrize("seed", range(4))
def test_several_keys(seed, tmp_path):
    source = np.random.default_rng(100 + seed)
    shape = [(2, 500), (1, 1500), (30, 200), (3, 40)][seed]
    keys = [numbers(source, kind, shape) for kind in source.choice([kind for kind in KINDS if kind != "bool"], 3)]
    place = np.broadcast_to(np.arange(shape[1], dtype=np.int32), shape).copy()
    order = np.broadcast_to(np.arange(shape[1]), shape)
    for key in keys[::-1]:
        order = np.take_along_axis(order, stable_order(np.take_along_axis(key, order, -1)), -1)
    run(lambda *values: lax.sort(values, dimension=1, num_keys=3)[3], [*keys, place], [order.astype(np.int32)], tmp_path)


@pytest.mark.parametrize("shape, few", [((1, 20000), 5), ((3, 33000), 3), ((2, 50000), 40), ((1, 65536), 32), ((1, 140000), 100), ((1, 300000), 1), ((2, 17000), 256)])
def test_the_first_of_long_rows(shape, few, tmp_path):
    """As in a vocabulary: what comes first is looked for among blocks."""
    rows = np.random.default_rng(shape[1]).normal(size=shape).astype(np.float32)
    order = np.argsort(-rows, axis=-1, kind="stable")[:, :few].astype(np.int32)
    run(lambda rows: lax.top_k(rows, few), [rows], [np.take_along_axis(rows, order, -1), order], tmp_path)


@pytest.mark.parametrize("seed", range(10))
def test_updates_by_index(seed, tmp_path):
    """Of tensors in batches and without; indices that come twice, and that reach outside."""
    source = np.random.default_rng(200 + seed)
    batches, rows, columns = [(1, 300, 5), (6, 50, 1), (4, 9, 7), (1, 3000, 2), (64, 33, 1)][seed % 5]
    count = int(source.choice([1, 2, 7, 8, 9, 60]))
    kind = np.dtype(source.choice(["float32", "int32", "float64", "int8"]))
    table = source.integers(-9, 9, (batches, rows, columns)).astype(kind)
    at = source.integers(-3, rows + 3, (batches, count)).astype(np.int32)
    at[at < 0] += 1000 * rows  # JAX would count negative ones from the end.
    new = source.integers(-9, 9, (batches, count, columns)).astype(kind)

    def by(combine):
        result = table.copy()
        for batch in range(batches):
            for i, row in enumerate(at[batch]):
                if row < rows:
                    result[batch, row] = combine(result[batch, row], new[batch, i])
        return result

    def function(table, at, new):
        each = [jax.vmap(lambda table, at, new, how=how: getattr(table.at[at], how)(new, mode="drop"))(table, at, new) for how in ("add", "set", "max", "subtract")]
        return [*each, jax.vmap(lambda table, at, new: table.at[:, at].add(new))(table.transpose(0, 2, 1), at, new.transpose(0, 2, 1)),
                table.at[0, at[0]].multiply(new[0]), by_columns(table, at, new)]

    def by_columns(table, at, new):
        """Batches are the second dimension of the indices and of the updates."""
        numbers = lax.ScatterDimensionNumbers(update_window_dims=(2,), inserted_window_dims=(1,), operand_batching_dims=(0,),
                                              scatter_indices_batching_dims=(1,), scatter_dims_to_operand_dims=(1,))
        return lax.scatter_add(table, at.T[:, :, None], new.transpose(1, 0, 2), numbers, mode="drop")

    multiplied = table.copy()
    for i, row in enumerate(at[0]):
        if row < rows:
            multiplied[0, row] *= new[0, i]
    wanted = [by(np.add), by(lambda _, new: new), by(np.maximum), by(np.subtract), by(np.add).transpose(0, 2, 1), multiplied, by(np.add)]
    run(function, [table, at, new], [np.ascontiguousarray(each) for each in wanted], tmp_path)


RUNNING = {"sum": lax.cumsum, "product": lambda x, *how: lax.cumprod(x * 0.1 + 1, *how), "largest": lax.cummax, "smallest": lax.cummin,
           "log_of_sums": lax.cumlogsumexp}


@pytest.mark.parametrize("kind", RUNNING)
def test_running(kind, tmp_path):
    """In the form that cores don't take, too: in runs, on both sides of whole ones, of each dimension, in both directions."""
    source = np.random.default_rng(5)
    arguments = [source.normal(size=shape).astype(np.float32) for shape in ((17,), (33, 3), (2, 256, 2), (3, 257), (4097,))]
    if kind in ("sum", "largest"):
        arguments[1][20, 1] = np.inf  # Nothing before it knows of it.

    def all_ways(*tensors):
        return [RUNNING[kind](x, x.ndim // 2, back) for x in tensors for back in (False, True)]

    text = tools.baton_jax().lower(all_ways, *arguments)
    for number, program in enumerate((text, text.replace("baton.on_cores", "baton.nowhere"))):
        (tmp_path / f"{number}.mlir").write_text(program)
        tools.compile_program(tmp_path / f"{number}.mlir", tmp_path / f"{number}.bvm")
        wanted = [np.asarray(each) for each in all_ways(*arguments)]
        given = tools.call(tmp_path / f"{number}.bvm", "main", arguments, wanted, tmp_path)
        told = [told for a, b in zip(wanted, given) if (told := tools.difference(a, b))]
        assert not told, (number, told)


@pytest.mark.parametrize("kind", ["float16", "bfloat16"])
def test_attention_of_halves(kind, tmp_path):
    """JAX's rule for CPUs refuses its sums; what is lowered is for any device."""
    source = np.random.default_rng(6)
    q, k = (source.normal(size=(1, 8, heads, 16)).astype(np.float32) for heads in (4, 2))

    def attention(q, k):
        return jax.nn.dot_product_attention(q, k, k, is_causal=True)

    half = jnp.dtype(kind)
    wanted = np.asarray(attention(q, k)).astype(half)
    (tmp_path / "program.mlir").write_text(tools.baton_jax().lower(attention, q.astype(half), k.astype(half)))
    tools.compile_program(tmp_path / "program.mlir", tmp_path / "program.bvm")
    (given,) = tools.call(tmp_path / "program.bvm", "main", [q.astype(half), k.astype(half)], [wanted], tmp_path)
    assert not tools.difference(wanted, given, 3e-2)
