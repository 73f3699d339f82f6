"""Eigenvalues and eigenvectors of any matrix, Schur, Hessenberg and tridiagonal forms and QR with pivots, which no library does: told by
what holds for them, since the order of eigenvalues, signs and phases are nobody's to choose. And tridiagonal systems of complex numbers."""
import pytest

jax = pytest.importorskip("jax", reason="JAX is not installed in this environment")
import jax.numpy as jnp  # noqa: E402
import jax.scipy.linalg as linalg  # noqa: E402
import numpy as np  # noqa: E402

import tools  # noqa: E402
from test_spectra import KINDS, adjoint, assert_orthonormal, numbers, roundings, wide  # noqa: E402

SIZE = 8
ROUNDINGS = 60  # Of the matrix's size: what errors may be.


def hard(kind):
    """Defective ones, equal eigenvalues, nothing, badly scaled ones, pairs, and what the usual shifts don't move."""
    source = np.random.default_rng(3)
    any_, line = source.normal(size=(SIZE, SIZE)), np.eye(SIZE, k=1)
    turn, _ = np.linalg.qr(source.normal(size=(SIZE, SIZE)))
    roots = np.eye(SIZE, k=-1)
    roots[0] = -np.poly(np.arange(1, SIZE + 1))[1:]
    pairs = np.kron(np.eye(SIZE // 2), [[0, 1], [-1, 0]])
    graded = any_ * 10.0 ** -np.arange(SIZE)
    halves = np.where(np.arange(SIZE)[:, None] < SIZE // 2, 1e12, 1e-12)
    made = [np.zeros((SIZE, SIZE)), np.eye(SIZE) * 3, np.ones((SIZE, SIZE)), line, line.T, line + 2 * np.eye(SIZE), turn @ (line + np.eye(SIZE)) @ turn.T,
            graded, graded.T, graded[::-1, ::-1], roots, roots.T, np.roll(np.eye(SIZE), 1, 0), np.eye(SIZE)[source.permutation(SIZE)], any_ - any_.T,
            any_ + any_.T, turn, pairs, pairs + 1e-9 * any_, np.outer(any_[0], any_[1]), any_ * 1e30, any_ * 1e-30, any_ * halves, np.triu(any_),
            np.tril(any_), np.diag(any_[0]), any_]
    made = np.stack(made)
    if np.dtype(kind).kind == "c":
        made = made.astype(complex)
        made[::2] = made[::2] * (1 - 0.5j) + 0.25j * np.swapaxes(made[::2], -1, -2)
    return made.astype(kind)


def of_all_sizes(kind):
    """Those of other sizes in two of the four kinds."""
    source = np.random.default_rng(4)
    shapes = ((1, 1), (2, 2), (2, 2, 3, 3), (21, 21), (0, 0), (0, 4, 4)) if kind in ("float32", "complex128") else ()
    return [hard(kind), *(numbers(source, shape, kind) for shape in shapes)]


def sizes_of(a):
    """Of each matrix, a number that errors are told in: 1 where it is nothing."""
    size = np.sqrt((np.abs(wide(a)) ** 2).sum((-2, -1), keepdims=True))
    return np.where(size > 0, size, 1)


def assert_small(error, a, kind):
    assert error.size == 0 or roundings(error / sizes_of(a), kind) < ROUNDINGS


def results(function, arguments, folder):
    return tools.beside_jax(function, arguments, folder, "--cpu-levels=host")


@pytest.mark.parametrize("kind", KINDS)
def test_eigenvectors(kind, tmp_path):
    matrices = of_all_sizes(kind)
    _, given = results(lambda *given: [each for a in given for each in (*jax.lax.linalg.eig(a), jnp.linalg.eigvals(a))], matrices, tmp_path)
    for i, a in enumerate(matrices):
        values, left, right, alone = map(wide, given[4 * i:4 * i + 4])
        assert values.shape == alone.shape == a.shape[:-1] and left.shape == right.shape == a.shape
        assert_small(wide(a) @ right - right * values[..., None, :], a, kind)
        assert_small(adjoint(left) @ wide(a) - values[..., :, None] * adjoint(left), a, kind)
        for vectors in (left, right):
            assert vectors.size == 0 or roundings(np.linalg.norm(vectors, axis=-2) - 1, kind) < ROUNDINGS
        assert_small(np.sum(alone, -1)[..., None, None] - np.trace(wide(a), axis1=-2, axis2=-1)[..., None, None], a, kind)
        if np.dtype(kind).kind == "f":  # Pairs are pairs, and real ones real.
            assert np.array_equal(np.sort_complex(np.conj(values)), np.sort_complex(values))
            for each in (left, right):
                assert not np.where((values.imag == 0)[..., None, :], each.imag, 0).any()


@pytest.mark.parametrize("kind", KINDS)
def test_values_of_normal_matrices(kind, tmp_path):
    """They move by no more than the matrix does."""
    source = np.random.default_rng(5)
    turn, _ = np.linalg.qr(numbers(source, (12, 12), "complex128" if np.dtype(kind).kind == "c" else "float64"))
    wanted = np.concatenate([source.normal(size=6) + 2j * source.normal(size=6), np.repeat(1.5, 6)])
    if np.dtype(kind).kind == "f":
        blocks = [np.array([[x.real, x.imag], [-x.imag, x.real]]) for x in wanted[:3]]
        middle = np.diag(np.concatenate([np.zeros(6), wanted[6:].real]))
        for i, each in enumerate(blocks):
            middle[2 * i:2 * i + 2, 2 * i:2 * i + 2] = each
        wanted = np.concatenate([wanted[:3], np.conj(wanted[:3]), wanted[6:]])
    else:
        middle = np.diag(wanted)
    a = (turn @ middle @ adjoint(turn)).astype(kind)
    _, (values,) = results(lambda a: [jnp.linalg.eigvals(a)], [a], tmp_path)
    far = np.abs(wide(values)[:, None] - wanted[None])
    assert roundings(far.min(0), kind, np.abs(wanted).max()) < ROUNDINGS and roundings(far.min(1), kind, np.abs(wanted).max()) < ROUNDINGS


@pytest.mark.parametrize("kind", KINDS)
def test_schur_forms(kind, tmp_path):
    matrices = of_all_sizes(kind)
    _, given = results(lambda *given: [each for a in given for each in jax.lax.linalg.schur(a)], matrices, tmp_path)
    is_real = np.dtype(kind).kind == "f"
    for a, form, vectors in zip(matrices, given[::2], given[1::2]):
        assert_small(wide(vectors) @ wide(form) @ adjoint(wide(vectors)) - wide(a), a, kind)
        if a.size:
            assert_orthonormal(vectors, kind)
        assert not np.tril(form, -2 if is_real else -1).any()
        below, beside = (np.diagonal(form, at, -2, -1) for at in (-1, 1))
        diagonal = np.diagonal(form, 0, -2, -1)
        assert not (below[..., 1:] * below[..., :-1] != 0).any()
        is_pair = below != 0
        assert np.array_equal(diagonal[..., 1:][is_pair], diagonal[..., :-1][is_pair])
        assert (np.sign(below[is_pair]) == -np.sign(beside[is_pair])).all() if is_real else not is_pair.any()


@pytest.mark.parametrize("kind", ["float32", "complex128"])
def test_what_schur_forms_are_for(kind, tmp_path):
    source = np.random.default_rng(6)
    a, b, c = (numbers(source, (5, 5), kind) for _ in range(3))
    a = (a @ adjoint(a) + np.eye(5)).astype(kind) + 0.3 * b

    def function(a, b, c):
        return [linalg.sqrtm(a), jnp.linalg.matrix_power(linalg.sqrtm(a), 2), linalg.solve_sylvester(a, b, c), jnp.roots(c[0], strip_zeros=False).sum()]
    wanted, given = results(function, [a.astype(kind), b, c], tmp_path)
    told = tools.differences(wanted, given, 3e-4 if kind == "float32" else 1e-10)
    assert not told, told


def test_gradients(tmp_path):
    source = np.random.default_rng(7)
    a = source.normal(size=(6, 6))

    def function(a):
        return [jax.grad(lambda a: (jnp.abs(jnp.linalg.eigvals(a)) ** 3).sum())(a)]
    wanted, given = results(function, [a], tmp_path)
    told = tools.differences(wanted, given, 1e-9)
    assert not told, told


@pytest.mark.parametrize("kind", ["float32", "complex64"])
def test_what_is_no_number_has_no_values(kind, tmp_path):
    """And does not go on for ever."""
    places = [(bad, place) for bad in (np.nan, np.inf) for place in ((0, 0), (3, 0), (0, 3))]
    matrices = np.stack([np.eye(4)] * (len(places) + 1)).astype(kind)
    for i, (bad, place) in enumerate(places):
        matrices[(i, *place)] = bad
    _, given = results(lambda a: [*jnp.linalg.eig(a), *jax.lax.linalg.schur(a)], [matrices], tmp_path)
    for each in given:
        assert np.isnan(each[:-1]).all() and np.isfinite(each[-1]).all()


@pytest.mark.parametrize("kind", KINDS)
def test_hessenberg_and_tridiagonal_forms(kind, tmp_path):
    """They are LAPACK's, where no column is left to rounding."""
    source = np.random.default_rng(8)
    matrices = [numbers(source, shape, kind) for shape in ((1, 1), (2, 2), (2, 3, 7, 7))]

    def function(*given):
        made = []
        for a in given:
            made += jax.lax.linalg.hessenberg(a)
            for lower in (True, False):
                made += jax.lax.linalg.tridiagonal(a + jnp.conj(jnp.swapaxes(a, -1, -2)), lower=lower)
        return made
    wanted, given = results(function, matrices, tmp_path)
    told = tools.differences(wanted, given, 1e-4 if kind in ("float32", "complex64") else 1e-11)
    assert not told, told


@pytest.mark.parametrize("kind", KINDS)
def test_hessenberg_forms_of_hard_matrices(kind, tmp_path):
    a = hard(kind)
    _, (form, turn) = results(lambda a: linalg.hessenberg(a, calc_q=True), [a], tmp_path)
    assert not np.tril(form, -2).any()
    assert_orthonormal(turn, kind)
    assert_small(wide(turn) @ wide(form) @ adjoint(wide(turn)) - wide(a), a, kind)


@pytest.mark.parametrize("kind", ["complex64", "complex128"])
def test_tridiagonal_systems(kind, tmp_path):
    """Those of real numbers are among the JAX programs."""
    source = np.random.default_rng(10)
    arguments = []
    for shape in ((1,), (2,), (9,), (3, 7)):
        low, middle, high, sides = (numbers(source, each, kind) for each in (shape, shape, shape, (*shape, 2)))
        low[..., 0] = high[..., -1] = 0
        middle[..., 2:3] = 0
        arguments += [low, middle, high, sides]
    wanted, given = results(lambda *given: [jax.lax.linalg.tridiagonal_solve(*given[i:i + 4]) for i in range(0, 16, 4)], arguments, tmp_path)
    told = tools.differences(wanted, given, 1e-4 if kind == "complex64" else 1e-11)
    assert not told, told


@pytest.mark.parametrize("kind", KINDS)
def test_pivots(kind, tmp_path):
    """Tall, wide, of a batch, of one row or column, of equal columns, of nothing, with columns of many sizes."""
    source = np.random.default_rng(9)
    matrices = [numbers(source, shape, kind) for shape in ((6, 6), (7, 4), (3, 8), (2, 2, 5, 4), (1, 4), (4, 1))]
    ranked = (numbers(source, (6, 2), kind) @ numbers(source, (2, 5), kind)).astype(kind)
    matrices += [np.ones((4, 5), kind), np.zeros((3, 3), kind), ranked, (matrices[0] * 10.0 ** -np.arange(6)).astype(kind)]
    factors = [(matrices[1] * scale).astype(kind) for scale in (1e25, 1e-25)]

    matrices = matrices + factors if kind in ("float32", "complex128") else matrices[:4] + matrices[-2:]

    def function(*given):
        return [each for i, a in enumerate(given) for each in jax.lax.linalg.qr(a, pivoting=True, full_matrices=i % 2 == 0)]
    wanted, given = results(function, matrices, tmp_path)
    for i, a in enumerate(matrices):
        q, r, places = given[3 * i:3 * i + 3]
        chosen = np.take_along_axis(a, places[..., None, :].astype(int), -1)
        assert_small(wide(q) @ wide(r) - chosen, a, kind)
        assert_orthonormal(q, kind)
        assert not np.tril(r, -1).any()
        heads = np.abs(np.diagonal(wide(r), 0, -2, -1))
        assert (heads[..., 1:] <= heads[..., :-1] * (1 + 1e-3) + 1e-5 * heads[..., :1]).all()
        if i < 4:  # Of equal lengths, and those that rounding leaves, any may be first.
            assert np.array_equal(places, wanted[3 * i + 2])
