"""Eigenvectors, singular vectors, and products with the reflections of QR, which no library does: they are told by what holds for
them, since signs and phases are nobody's to choose."""
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
