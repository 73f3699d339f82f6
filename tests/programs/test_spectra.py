"""Eigenvectors, singular vectors, and products with the reflections of QR, which no library does: they are told by what holds for
them, since signs and phases are nobody's to choose."""
import itertools

import pytest

jax = pytest.importorskip("jax", reason="JAX is not installed in this environment")
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402

import tools  # noqa: E402

KINDS = ["float32", "float64", "complex64", "complex128"]
ROUNDINGS = 60  # Of the largest value: what errors may be.


def numbers(source, shape, kind):
    made = source.normal(size=shape)
    return (made + 1j * source.normal(size=shape) if np.dtype(kind).kind == "c" else made).astype(kind)


def results(function, arguments, folder):
    return tools.beside_jax(function, arguments, folder, "--cpu-levels=host")


def adjoint(a):
    return np.conj(np.swapaxes(a, -1, -2))


def wide(a):
    return a.astype(np.complex128)


def roundings(error, kind, scale=1.0):
    """How many roundings of a number like `scale` an error is."""
    return np.abs(error).max() / np.finfo(kind).eps / (scale or 1.0)


def assert_orthonormal(columns, kind):
    assert roundings(adjoint(wide(columns)) @ wide(columns) - np.eye(columns.shape[-1]), kind) < ROUNDINGS


def symmetric(kind):
    """Any, of a batch, one number, zeros, equal values, values that differ in the sign alone, of rank one and below zero."""
    source = np.random.default_rng(7)
    made = [numbers(source, shape, kind) for shape in ((6, 6), (2, 3, 5, 5), (1, 1), (2, 2))]
    made = [((a + adjoint(a)) / 2).astype(kind) for a in made]
    signs = np.kron(np.eye(3), [[0, 1], [1, 0]]).astype(kind)
    return made + [np.zeros((3, 3), kind), np.eye(4, dtype=kind) * 3, signs, -np.ones((5, 5), kind)]


@pytest.mark.parametrize("kind", KINDS)
def test_eigenvectors(kind, tmp_path):
    matrices = symmetric(kind)
    _, given = results(lambda *given: [tuple(jnp.linalg.eigh(a)) for a in given], matrices, tmp_path)
    for a, values, vectors in zip(matrices, given[::2], given[1::2]):
        wanted = np.linalg.eigvalsh(wide(a))
        scale = np.abs(wanted).max()
        assert roundings(values - wanted, kind, scale) < ROUNDINGS
        assert roundings(wide(a) @ wide(vectors) - wide(vectors) * values[..., None, :], kind, scale) < ROUNDINGS
        assert_orthonormal(vectors, kind)


def of_any_shape(kind):
    """Tall, wide, of a batch, one row, one column, of rank two, zeros, values of many sizes, and numbers of any size."""
    source = np.random.default_rng(8)
    made = [numbers(source, shape, kind) for shape in ((7, 4), (3, 6), (2, 2, 5, 5), (1, 4), (4, 1), (2, 2))]
    made += [(numbers(source, (6, 2), kind) @ numbers(source, (2, 5), kind)).astype(kind), np.zeros((4, 3), kind)]
    graded = (numbers(source, (5, 5), kind) * 10.0 ** -np.arange(5)).astype(kind)
    return made + [graded, (made[0] * 1e25).astype(kind), (made[1] * 1e-25).astype(kind)]


@pytest.mark.parametrize("kind, is_full", [("float32", False), ("float64", True), ("complex64", True), ("complex128", False)])
def test_singular_vectors(kind, is_full, tmp_path):
    matrices = of_any_shape(kind)[::2 if kind == "complex128" else 1]
    _, given = results(lambda *given: [tuple(jnp.linalg.svd(a, full_matrices=is_full)) for a in given], matrices, tmp_path)
    for a, u, values, v in zip(matrices, given[::3], given[1::3], given[2::3]):
        wanted = np.linalg.svd(wide(a), compute_uv=False)
        count, scale = values.shape[-1], wanted.max()
        assert roundings(values - wanted, kind, scale) < ROUNDINGS
        made = (wide(u)[..., :count] * values[..., None, :]) @ wide(v)[..., :count, :]
        assert roundings(made - a, kind, scale) < ROUNDINGS
        assert_orthonormal(u, kind)
        assert_orthonormal(adjoint(v), kind)


@pytest.mark.parametrize("size, are_blocks", [(80, False), (66, True), (21, True)])
def test_many_columns(size, are_blocks, tmp_path, monkeypatch):
    """Errors don't grow with the rotations; of lines that one block of threads turns, and that several do, neither."""
    if are_blocks:
        tools.on_blocks(monkeypatch)
    source = np.random.default_rng(9)
    a = source.normal(size=(size, size)).astype(np.float32)
    _, (values, vectors, singular) = results(lambda a: (*jnp.linalg.eigh(a + a.T), jnp.linalg.svdvals(a)), [a], tmp_path)
    wanted = np.linalg.eigvalsh(wide(a + a.T))
    assert roundings(values - wanted, np.float32, np.abs(wanted).max()) < ROUNDINGS
    assert roundings(wide(a + a.T) @ vectors - vectors * values, np.float32, np.abs(wanted).max()) < ROUNDINGS
    assert_orthonormal(vectors, np.float32)
    wanted = np.linalg.svd(wide(a), compute_uv=False)
    assert roundings(singular - wanted, np.float32, wanted.max()) < ROUNDINGS


def test_what_is_no_number_has_no_values(tmp_path):
    a = np.eye(4, dtype=np.float32)
    a[2, 2] = np.nan
    _, given = results(lambda a: (jnp.linalg.svdvals(a), jnp.linalg.eigvalsh(a)), [a], tmp_path)
    assert all(np.isnan(each).all() for each in given)


def hard_matrices(n, kind):
    """What iterations may stumble over: many equal values, values that are nothing, or small beside others, numbers with few digits, shapes that
    are done already; a batch of them."""
    source = np.random.default_rng(12)
    turns = np.linalg.qr(source.normal(size=(n, n)))[0]
    some, place = source.normal(size=(n, n)), np.arange(n)
    most = np.finfo(kind).max
    made = [some, np.zeros((n, n)), -np.ones((n, n)), np.diag(some[0]), np.eye(n), np.eye(n, k=1), np.eye(n) + np.eye(n, k=1),
            np.diag(place % 3) + np.eye(n, k=1), np.diag(np.abs(place - n // 2)) + np.eye(n, k=1) + np.eye(n, k=-1), turns, turns * (1 + place % 2),
            turns[:, :2] @ some[:2], 1 / (1.0 + place[:, None] + place), some[::-1] * 10.0 ** -place, some * 10.0 ** -place[::-1],
            some * 10.0 ** -(3 * place), (some * 10.0 ** -(2 * place)).T, some * 1e-25, some * (most * 1e-3), some * np.finfo(kind).tiny,
            some * np.finfo(kind).tiny * 1e-3, np.where((place == 2) | (place[:, None] == n - 2), 1e-30, some)]
    return np.stack(made).astype(kind)


def without_scale(a):
    """The matrices of a batch, in float64, as large as numpy likes them; and what they were divided by."""
    wide_ = a.astype(np.float64)
    scale = np.abs(wide_).max(axis=(-1, -2), keepdims=True)
    scale = np.where(scale > 0, scale, 1)
    return wide_ / scale, scale


def assert_near_in_each(error, kind, roundings_max):
    """Of a batch; each matrix is like 1."""
    told = np.abs(error).reshape(len(error), -1).max(axis=1) / np.finfo(kind).eps
    assert (told < roundings_max).all(), told


def few_digits(a, kind):
    """Those whose largest number has few digits: what is computed is no nearer than these."""
    return np.abs(a).max(axis=(-1, -2)) < np.finfo(kind).tiny


@pytest.mark.parametrize("kind, n, half", [("float32", 17, "L"), ("float64", 9, "U")])
def test_hard_symmetric_matrices(kind, n, half, tmp_path):
    """One triangle is read, and the other one isn't."""
    a = hard_matrices(n, kind)
    part = np.tril(a) if half == "L" else np.triu(a)
    full = part + np.swapaxes(part, -1, -2) * (1 - np.eye(n, dtype=kind))
    _, (values, vectors, alone) = results(
        lambda a: (*jnp.linalg.eigh(a, UPLO=half, symmetrize_input=False), jax.lax.linalg.eigh(a, lower=half == "L", symmetrize_input=False)[1]),
        [np.where(part == 0, a, part)], tmp_path)
    (like_one, scale), are_small = without_scale(full), few_digits(full, kind)
    wanted = np.linalg.eigvalsh(like_one)
    room = np.where(are_small, 1e4, 1)[:, None]  # Of rounding what is given back.
    for each in (values, alone):
        assert_near_in_each((each / scale[..., 0] - wanted) / room, kind, ROUNDINGS)
        assert (np.diff(each) >= 0).all()
    like = values / scale[..., 0]
    assert_near_in_each((like_one @ vectors - vectors * like[:, None, :]) / room[..., None], kind, ROUNDINGS)
    assert_near_in_each(np.swapaxes(vectors, -1, -2).astype(np.float64) @ vectors - np.eye(n), kind, ROUNDINGS)


@pytest.mark.parametrize("kind, rows, columns, is_full", [("float32", 17, 17, False), ("float64", 17, 5, True), ("float64", 5, 17, False),
                                                          ("float32", 4, 17, True)])
def test_hard_matrices(kind, rows, columns, is_full, tmp_path):
    a = hard_matrices(17, kind)[:, :rows, :columns]
    _, (u, values, v, alone) = results(lambda a: (*jnp.linalg.svd(a, full_matrices=is_full), jnp.linalg.svdvals(a)), [a], tmp_path)
    (like_one, scale), are_small = without_scale(a), few_digits(a, kind)
    wanted, room = np.linalg.svd(like_one, compute_uv=False), np.where(are_small, 1e4, 1)[:, None]
    for each in (values, alone):
        assert_near_in_each((each / scale[..., 0] - wanted) / room, kind, ROUNDINGS)
        assert (np.diff(each) <= 0).all() and (each >= 0).all()
    count = values.shape[-1]
    made = (u[..., :count] * (values / scale[..., 0])[:, None, :]) @ v[:, :count]
    assert_near_in_each((made - like_one) / room[..., None], kind, ROUNDINGS)
    for columns_ in (u, np.swapaxes(v, -1, -2)):
        assert_near_in_each(np.swapaxes(columns_, -1, -2).astype(np.float64) @ columns_ - np.eye(columns_.shape[-1]), kind, ROUNDINGS)


def test_small_values_beside_large_ones(tmp_path):
    """Values that are a millionth of others have their digits where LAPACK keeps them: of rows or columns that are graded, the largest first, of
    bidiagonal matrices, and of symmetric ones whose numbers are."""
    source = np.random.default_rng(13)
    steps = 10.0 ** -np.arange(9.0)
    tall = np.stack([source.normal(size=(9, 9)) * steps, (source.normal(size=(9, 9)) * steps).T, np.diag(steps) + np.diag(steps[1:], 1),
                     (np.diag(steps) + np.diag(steps[1:], 1))[::-1, ::-1]]).astype(np.float32)
    both = source.normal(size=(9, 9)) * np.sqrt(steps * steps[:, None])
    both = (both + both.T).astype(np.float32)
    _, (singular, values) = results(lambda a, c: (jnp.linalg.svdvals(a), jnp.linalg.eigvalsh(c)), [tall, both], tmp_path)
    wanted = np.linalg.svd(tall.astype(np.float64), compute_uv=False)
    assert roundings((singular - wanted) / wanted, np.float32) < 2 * ROUNDINGS
    wanted = np.linalg.eigvalsh(both.astype(np.float64))
    assert roundings((values - wanted) / wanted, np.float32) < 10 * ROUNDINGS


@pytest.mark.parametrize("kind, sizes", [("float32", (0, 1, 2, 3, 16, 33, 150)), ("float64", (1, 9, 105))])
def test_any_number_of_rows(kind, sizes, tmp_path):
    """Fewer than a vector has, as many, one more; none; and so many that the kernel's memory is one of its results."""
    source = np.random.default_rng(14)
    matrices = [source.normal(size=(n, n)).astype(kind) for n in sizes]
    matrices = [a + a.T for a in matrices]
    _, given = results(lambda *given: [tuple(jnp.linalg.eigh(a)) for a in given], matrices, tmp_path)
    for a, values, vectors in zip(matrices, given[::2], given[1::2]):
        if not a.size:
            assert not values.size
            continue
        wanted = np.linalg.eigvalsh(wide(a))
        scale = np.abs(wanted).max()
        assert roundings(values - wanted, kind, scale) < ROUNDINGS
        assert roundings(wide(a) @ wide(vectors) - wide(vectors) * values, kind, scale) < ROUNDINGS
        assert_orthonormal(vectors, kind)


@pytest.mark.parametrize("kind, shape, is_full", [("float32", (210, 40), True), ("float32", (2, 130, 170), False), ("float64", (110, 110), False),
                                                  ("float64", (3, 3000), False)])
def test_memory_that_is_a_result(kind, shape, is_full, tmp_path):
    a = np.random.default_rng(15).normal(size=shape).astype(kind)
    _, (u, values, v, alone) = results(lambda a: (*jnp.linalg.svd(a, full_matrices=is_full), jnp.linalg.svdvals(a)), [a], tmp_path)
    wanted = np.linalg.svd(a.astype(np.float64), compute_uv=False)
    count, scale = values.shape[-1], wanted.max()
    assert roundings(values - wanted, kind, scale) < ROUNDINGS and roundings(alone - wanted, kind, scale) < ROUNDINGS
    assert roundings((wide(u)[..., :count] * values[..., None, :]) @ wide(v)[..., :count, :] - a, kind, scale) < ROUNDINGS
    assert_orthonormal(u, kind)
    assert_orthonormal(adjoint(v), kind)


def test_vectors_that_nobody_reads_are_not_made():
    """And what is written for a core is as long for any size."""
    def kernel(function, n):
        lines = iter(tools.baton_jax().lower(function, np.zeros((n, n), np.float32)).splitlines())
        first = next(line for line in lines if "baton.one_kernel" in line and ("eigenvalues" in line or "singular" in line))
        end = first[:len(first) - len(first.lstrip())] + "}"
        return [first, *itertools.takewhile(lambda line: line != end, lines)]
    for function, results_ in ((jnp.linalg.eigvalsh, 1), (jnp.linalg.eigh, 2), (jnp.linalg.svdvals, 1), (jnp.linalg.svd, 3),
                               (lambda a: jnp.linalg.svd(a)[1], 1), (jnp.linalg.matrix_rank, 1), (lambda a: jnp.linalg.norm(a, 2), 1)):
        lines = kernel(function, 20)
        assert lines[0].split("->")[1].count("tensor<") == results_, lines[0]
        assert abs(len(lines) - len(kernel(function, 60))) < 10


def test_what_is_no_number_spoils_its_own_matrix_alone(tmp_path):
    a = np.stack([np.eye(5)] * 8).astype(np.float32)
    for place, bad in enumerate((np.nan, np.inf, -np.inf)):
        a[1 + place, 2, 2] = a[4 + place, 4, 1] = a[4 + place, 1, 4] = bad
    _, given = results(lambda a: (*jnp.linalg.eigh(a), *jnp.linalg.svd(a)), [a], tmp_path)
    for each in given:
        assert np.isnan(each[1:7]).all() and np.isfinite(each[::7]).all()


def through_vectors(a, b):
    """What is made of them, and gradients through them."""
    return (jnp.linalg.pinv(a), jnp.linalg.lstsq(a, b)[0], jnp.linalg.matrix_rank(a), jnp.linalg.norm(a, 2), jnp.linalg.norm(a, "nuc"), jnp.linalg.cond(a),
            jax.grad(lambda a: jnp.linalg.svdvals(a)[:2].sum())(a), jax.grad(lambda a: jnp.linalg.eigvalsh(a.T @ a)[-1])(a))


def test_what_is_made_of_them(tmp_path):
    source = np.random.default_rng(10)
    wanted, given = results(through_vectors, [source.normal(size=(6, 4)), source.normal(size=6)], tmp_path)
    told = tools.differences(wanted, given, 1e-10)
    assert not told, told


@pytest.mark.parametrize("kind", KINDS)
def test_products_with_reflections(kind, tmp_path):
    source = np.random.default_rng(11)
    shapes = ((5, 3), (4, 4), (2, 6, 3))
    arguments = [numbers(source, shape, kind) for shape in shapes]
    arguments += [numbers(source, (*shape[:-2], *sides), kind) for shape in shapes for sides in ((shape[-2], 3), (2, shape[-2]))]

    def products(*given):
        made = []
        for i, a in enumerate(given[:3]):
            packed, taus = jnp.linalg.qr(a, mode="raw")
            for is_left, c in ((True, given[3 + 2 * i]), (False, given[4 + 2 * i])):
                made += [jax.lax.linalg.ormqr(jnp.swapaxes(packed, -1, -2), taus, c, left=is_left, transpose=turned) for turned in (False, True)]
        return made

    wanted, given = results(products, arguments, tmp_path)
    for pair in zip(wanted, given):
        assert roundings(pair[0] - pair[1], kind, np.abs(pair[0]).max()) < ROUNDINGS
