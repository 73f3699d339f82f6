"""Factorizations and triangular solves of matrices that are several blocks, whole ones and not, against JAX."""
import numpy as np
import pytest

jax = pytest.importorskip("jax", reason="JAX is not installed in this environment")
import jax.numpy as jnp  # noqa: E402
import jax.scipy.linalg as linalg  # noqa: E402

import tools  # noqa: E402

TOLERANCES = {"float32": 3e-4, "complex64": 3e-4, "float64": 1e-10}


def all_of(matrix, triangle, right, batch):
    solved = [linalg.solve_triangular(a, right, lower=lower, trans=trans, unit_diagonal=trans == 1)
              for lower, a in ((True, triangle), (False, triangle.T)) for trans in (0, 1, 2)]
    return [jnp.linalg.cholesky(matrix), jnp.linalg.cholesky(batch, upper=True), *solved]


@pytest.mark.parametrize("kind, size", [("float32", 64), ("complex64", 100), ("float64", 290)])
def test_blocks(kind, size, tmp_path):
    source = np.random.default_rng(size)

    def numbers(*shape):
        parts = source.normal(size=(2, *shape))
        return (parts[0] + 1j * parts[1] if kind == "complex64" else parts[0]).astype(kind)

    a = numbers(size, size)
    matrix = (a @ a.conj().T / size + np.eye(size)).astype(kind)
    triangle = (np.tril(a) / size + np.eye(size) * (1 + source.random(size))).astype(kind)
    # What stands on the other side of the diagonal is not read.
    arguments = [matrix, triangle + np.triu(numbers(size, size), 1), numbers(size, 3), np.stack([matrix, matrix * 2])]
    wanted, given = tools.beside_jax(all_of, arguments, tmp_path, "--cpu-levels=host")
    told = tools.differences(wanted, given, TOLERANCES[kind])
    assert not told, told


def shapes_of_all(a, square, triangle, right, singular):
    factors, pivots, _ = jax.lax.linalg.lu(a)
    taken, taus = jax.lax.linalg.geqrf(a) if hasattr(jax.lax.linalg, "geqrf") else (factors, pivots)
    solved = [jax.lax.linalg.triangular_solve(triangle, right, left_side=True, lower=lower, transpose_a=turned, unit_diagonal=unit)
              for lower, turned, unit in ((True, False, False), (False, False, True), (True, True, True), (False, True, False))]
    aside = jax.lax.linalg.triangular_solve(triangle, jnp.swapaxes(right, -1, -2), left_side=False, lower=True)
    q, r = jnp.linalg.qr(singular)  # Which columns q has for those of zeros, rounding says.
    return [factors, pivots, taken, taus, *jnp.linalg.qr(a), *jnp.linalg.qr(a, mode="complete"), *solved, aside,
            jnp.linalg.cholesky(square), jnp.linalg.cholesky(-square), *jax.lax.linalg.lu(singular)[:2], q @ r]


@pytest.mark.parametrize("kind", ["float32", "float64"])
@pytest.mark.parametrize("shape", [(1, 1), (3, 3), (6, 6), (33, 20), (9, 31), (2, 3, 7, 7), (40, 5, 3)], ids=str)
def test_shapes(kind, shape, tmp_path):
    """Matrices of few elements, of one block, tall, wide, of a batch; what has no factor; columns of zeros and rows that are equal."""
    source, size = np.random.default_rng(sum(shape)), shape[-1]
    a = source.normal(size=shape).astype(kind)
    square = source.normal(size=(*shape[:-2], size, size))
    square = (square @ np.swapaxes(square, -1, -2) / size + np.eye(size)).astype(kind)
    triangle = (source.normal(size=square.shape) / size + np.eye(size) * 2).astype(kind)
    singular = np.ones_like(a)
    singular[..., 0] = 0
    arguments = [a, square, triangle, source.normal(size=(*shape[:-2], size, 4)).astype(kind), singular]
    wanted, given = tools.beside_jax(shapes_of_all, arguments, tmp_path, "--cpu-levels=host")
    told = tools.differences(wanted, given, TOLERANCES[kind])
    assert not told, told


@pytest.mark.parametrize("kind", ["float32", "complex64"])
def test_qr_of_columns_of_any_size(kind, tmp_path):
    """Those that are too small for all digits, too: the columns of q are orthogonal all the same."""
    source = np.random.default_rng(1)
    matrices = []
    for size in (3, 7):
        for scale in (1e-38, 1e-43, 1e37):
            a = source.normal(size=(size, size)) + (1j * source.normal(size=(size, size)) if kind == "complex64" else 0)
            a[:, 1:] *= scale
            matrices.append(a.astype(kind))
    _, given = tools.beside_jax(lambda *given: [each for a in given for each in jnp.linalg.qr(a)], matrices, tmp_path, "--cpu-levels=host")
    for a, q, r in zip(matrices, given[::2], given[1::2]):
        q, sizes = q.astype(complex), np.abs(a).max(0)
        assert np.abs(q.conj().T @ q - np.eye(len(q))).max() < 1e-5
        assert (np.abs(q @ r - a) / sizes).max() < (1e-5 if sizes.min() > 1e-40 else 0.1)


def of_one_block(a, wide, triangles, rights):
    solved = [jax.lax.linalg.triangular_solve(triangles, rights, left_side=True, lower=lower, unit_diagonal=lower, transpose_a=lower) for lower in (False, True)]
    return [*jax.lax.linalg.lu(a), *jax.lax.linalg.lu(wide), *jnp.linalg.qr(a), jnp.linalg.cholesky(a.mT @ a), *solved]


def in_panels(a, square):
    return [*jax.lax.linalg.lu(a), *jnp.linalg.qr(a), jnp.linalg.cholesky(square)]


@pytest.mark.parametrize("function, kind, shapes", [
    (of_one_block, "float64", ((2, 25, 20), (20, 30), (3, 30, 30), (3, 30, 9))),
    (in_panels, "float32", ((100, 60), (2, 100, 100)))], ids=lambda each: each.__name__ if callable(each) else "")
def test_blocks_of_threads(function, kind, shapes, tmp_path, monkeypatch):
    """Matrices that one block keeps, and that several do in panels."""
    tools.on_blocks(monkeypatch)
    source = np.random.default_rng(12)
    arguments = [source.normal(size=shape) for shape in shapes]
    arguments = [a if a.shape[-1] != a.shape[-2] else np.eye(len(a[-1])) + a @ np.swapaxes(a, -1, -2) / len(a[-1]) for a in arguments]
    wanted, given = tools.beside_jax(function, [a.astype(kind) for a in arguments], tmp_path)
    told = tools.differences(wanted, given, TOLERANCES[kind])
    assert not told, told
