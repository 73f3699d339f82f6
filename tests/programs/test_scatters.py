"""Scatters in each of their forms (python/baton/jax/scatter.py) against NumPy: that for anybody, that for cores, and that for threads with
atomic operations, which a core computes as it stands, row by row; and each compiles for CUDA."""
import numpy as np
import pytest

jax = pytest.importorskip("jax", reason="JAX is not installed in this environment")

import tools  # noqa: E402

FORMS = {"anybody": [("baton.on_cores", "baton.left"), ("baton.with_atomics", "baton.left_too")],
         "cores": [("baton.with_atomics", "baton.left")],
         "atomics": [("baton.on_cores", "baton.left"), ("baton.with_atomics", "baton.on_cores")]}
KINDS = ["float32", "float16", "bfloat16", "float64", "int32", "uint32", "int8", "uint8", "int64", "uint16", "bool"]
JOINS = {"add": np.add, "set": lambda _, new: new, "max": np.maximum, "min": np.minimum, "multiply": np.multiply}
# Rows, columns, updates: of few and of many elements, more updates than rows, and rows that most updates miss.
SIZES = [(300, 5, 60), (40, 1, 700), (1000, 40, 3), (3000, 9, 20), (17, 1, 9)]


def numbers(source, kind, shape):
    kind = tools.np_bfloat16() if kind == "bfloat16" else np.dtype(kind)
    if kind == np.bool_:
        return source.integers(0, 2, shape).astype(kind)
    if kind.kind in "iu":
        return source.integers(0 if kind.kind == "u" else -9, 9, shape).astype(kind)
    return source.normal(size=shape).astype(kind)


def scattered(how, table, at, new):
    """In f64, or in integers; what is outside is left out."""
    is_float = table.dtype.kind not in "iub"
    result = table.astype(np.float64) if is_float else table.copy()
    for row, each in zip(at, new.astype(result.dtype)):
        if row < len(table):
            with np.errstate(over="ignore", invalid="ignore"):
                result[row] = JOINS[how](result[row], each)
    return result.astype(table.dtype)


def check(function, arguments, wanted, folder, form):
    with jax.enable_x64(True):
        text = tools.baton_jax().lower(function, *arguments)
    for old, new in FORMS[form]:
        text = text.replace(old, new)
    (folder / "program.mlir").write_text(text)
    tools.compile_program(folder / "program.mlir", folder / "program.bvm")
    given = tools.call(folder / "program.bvm", "main", arguments, wanted, folder)
    for i, pair in enumerate(zip(wanted, given)):
        assert not (told := tools.difference(*pair)), f"result {i} {told}"
    return text


# Of the form for anybody, which test_orders sees, too, some.
@pytest.mark.parametrize("kind, form", [(kind, form) for kind in KINDS for form in FORMS if form != "anybody" or kind in KINDS[::4]])
def test_forms(kind, form, tmp_path):
    number = KINDS.index(kind)
    source = np.random.default_rng(number)
    arguments, wanted = [], []
    joins = [how for how in JOINS if kind != "bool" or how not in ("add", "multiply")]  # Which JAX refuses for those.
    for rows, columns, count in (SIZES[number % 5], SIZES[(number + 2) % 5]):
        table, new = numbers(source, kind, (rows, columns)), numbers(source, kind, (count, columns))
        at = source.integers(0, rows + 4, count).astype(np.int32)
        unique = source.permutation(rows)[:min(rows, count)].astype(np.int32)
        arguments += [table, at, new, unique]
        wanted += [scattered(how, table, at, new) for how in joins]
        wanted += [scattered(how, table, unique, new[:len(unique)]) for how in joins]

    def function(*values):
        made = []
        for table, at, new, unique in zip(*[iter(values)] * 4):
            made += [getattr(table.at[at], how)(new, mode="drop") for how in joins]
            made += [getattr(table.at[unique], how)(new[:len(unique)], unique_indices=True, mode="drop") for how in joins]
        return made

    text = check(function, arguments, wanted, tmp_path, form)
    if form == "cores":
        (tmp_path / "cuda.mlir").write_text(text.replace("baton.left", "baton.with_atomics"))
        tools.run_tool("baton-compile", [tmp_path / "cuda.mlir", "--target-device=cuda", "-o", tmp_path / "cuda.bvm"])


@pytest.mark.parametrize("form", FORMS)
def test_sums_of_what_is_no_number(form, tmp_path):
    """Infinities of one sign, of both, NaN, numbers at both ends of the range, and those that take each other away."""
    rows = [[np.inf, 1, -5], [np.inf, -np.inf], [np.nan, 2], [-np.inf, -np.inf, 3], [3e38, 3e38, -3e38], [1e-45, 1e-45], [1e30, 1, -1e30], [0.0], []]
    at = np.concatenate([np.full(len(row), i, np.int32) for i, row in enumerate(rows)])
    new = np.concatenate([np.array(row, np.float32) for row in rows])
    order = np.random.default_rng(1).permutation(len(at))
    at, new = at[order], new[order]
    with np.errstate(invalid="ignore"):
        wanted = np.array([np.array(row, np.float32).astype(np.float64).sum() for row in rows])
    table = np.zeros(len(rows), np.float32)
    if form != "atomics":  # One after the other they are what the order makes of them.
        wanted = table.copy()
        with np.errstate(over="ignore", invalid="ignore"):
            np.add.at(wanted, at, new)
    # The sum in the middle loses what f32 has no room for, whatever the order.
    check(lambda table, at, new: [table.at[at].add(new)[np.array([0, 1, 2, 3, 5, 7, 8])]], [table, at, new],
          [wanted.astype(np.float32)[[0, 1, 2, 3, 5, 7, 8]]], tmp_path, form)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kind", ["float32", "float16", "float64"])
def test_extremes_of_what_is_no_number(kind, form, tmp_path):
    source = np.random.default_rng(2)
    special = np.array([np.nan, -np.nan, np.inf, -np.inf, 0.0, -0.0, 1.5, -1.5, 7, -7])
    new, at = source.choice(special, 60).astype(kind), source.integers(0, 40, 60).astype(np.int32)
    table = source.choice(special, 40).astype(kind)
    wanted = [scattered(how, table, at, new) for how in ("max", "min")]
    check(lambda table, at, new: [table.at[at].max(new), table.at[at].min(new)], [table, at, new], wanted, tmp_path, form)


@pytest.mark.parametrize("form", FORMS)
def test_windows_and_places(form, tmp_path):
    """Windows that lie over each other, places in several dimensions, and a batch."""
    source = np.random.default_rng(3)
    image, patches = source.integers(-9, 9, (20, 30)).astype(np.int32), source.integers(-9, 9, (12, 4, 5)).astype(np.int32)
    corner = np.stack([source.integers(0, 17, 12), source.integers(0, 26, 12)], 1).astype(np.int32)
    y, x, values = *source.integers(0, 20, (2, 50)).astype(np.int32), source.integers(-9, 9, 50).astype(np.int32)
    added = image.copy()
    for (row, column), patch in zip(corner, patches):
        added[row:row + 4, column:column + 5] += patch
    placed = image.copy()
    for each in zip(y, x, values):
        placed[each[0], each[1]] = each[2]
    batch, at, new = source.integers(-9, 9, (6, 50)).astype(np.int32), source.integers(0, 50, (6, 20)).astype(np.int32), source.integers(-9, 9, (6, 20)).astype(np.int32)
    joined = batch.copy()
    for b in range(6):
        np.add.at(joined[b], at[b], new[b])

    def function(image, patches, corner, y, x, values, batch, at, new):
        numbers = jax.lax.ScatterDimensionNumbers(update_window_dims=(1, 2), inserted_window_dims=(), scatter_dims_to_operand_dims=(0, 1))
        return [jax.lax.scatter_add(image, corner, patches, numbers), image.at[y, x].set(values), jax.vmap(lambda b, a, n: b.at[a].add(n))(batch, at, new)]

    check(function, [image, patches, corner, y, x, values, batch, at, new], [added, placed, joined], tmp_path, form)
