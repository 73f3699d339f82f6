"""Rows of the table: factors of matrices, and what is computed of them.

`torch.compile` leaves these to PyTorch, whose LAPACK is faster than loops of a program; an export, and a model that is to stay whole,
have them here. Nobody checks: of a matrix without an inverse, or without a Cholesky factor, come infinities and what is no number.
Signs, or phases, of eigenvectors and singular vectors are no one's to choose, and others than PyTorch's.
"""
import functools

import jax
import jax.numpy as jnp
import torch
from jax import lax
from torch.utils._python_dispatch import _disable_current_modes

from .graph import NotLowered, row
from .rotations import eigenvectors, singular_vectors

_aten = torch.ops.aten
# What PyTorch is left to do where it can. Not `pinv`: of complex matrices PyTorch 2.15 gives wrong numbers within a graph, its backend `aot_eager`, too.
BETTER_LEFT = ("linalg_lu_factor_ex.default", "linalg_lu_solve.default", "linalg_solve_triangular.default", "linalg_cholesky_ex.default", "linalg_qr.default",
               "linalg_lu.default", "_linalg_svd.default", "_linalg_eigh.default", "linalg_matrix_exp.default", "linalg_householder_product.default",
               "triangular_solve.default")


def _turned(x):
    return jnp.swapaxes(x, -1, -2)


def _conjugate_turned(x):
    return jnp.conj(_turned(x))


def _no_error(x):
    return jnp.zeros(x.shape[:-2], jnp.int32)


def _of_one_batch(*matrices):
    batch = jnp.broadcast_shapes(*(each.shape[:-2] for each in matrices))
    return [jnp.broadcast_to(each, batch + each.shape[-2:]) for each in matrices]


@row("linalg_lu_factor_ex.default")
def lu_factor(a, pivot=True, check_errors=False):
    if not pivot:
        raise NotLowered("a factorization without pivots is not lowered")
    factors, pivots, _ = lax.linalg.lu(a)
    is_zero = jnp.diagonal(factors, axis1=-2, axis2=-1) == 0
    info = jnp.where(jnp.any(is_zero, -1), jnp.argmax(is_zero, -1) + 1, 0)
    return factors, pivots + 1, info.astype(jnp.int32)


@row("lu_unpack.default")
def lu_unpack(factors, pivots, unpack_data=True, unpack_pivots=True):
    rows, columns = factors.shape[-2:]
    least = min(rows, columns)
    order = lax.linalg.lu_pivots_to_permutation(pivots - 1, rows)
    places = (jnp.arange(rows)[:, None] == order[..., None, :]).astype(factors.dtype)
    return places, jnp.tril(factors[..., :least], -1) + jnp.eye(rows, least, dtype=factors.dtype), jnp.triu(factors[..., :least, :])


@row("linalg_lu.default")
def lu(a, pivot=True):
    factors, pivots, _ = lu_factor(a, pivot)
    return lu_unpack(factors, pivots)


def _solved(a, b, lower, unit=False, turned=False, conjugate=False):
    return lax.linalg.triangular_solve(a, b, left_side=True, lower=lower, unit_diagonal=unit, transpose_a=turned, conjugate_a=conjugate)


@row("linalg_lu_solve.default")
def lu_solve(factors, pivots, b, left=True, adjoint=False):
    # From the right: x a = b is a' x' = b', where the conjugate of the turned is the turned one's conjugate.
    if not left:
        made = _lu_solve(factors, pivots, _turned(b), not adjoint, adjoint)
        return _turned(made)
    return _lu_solve(factors, pivots, b, adjoint, adjoint)


def _lu_solve(factors, pivots, b, turned, conjugate):
    order = lax.linalg.lu_pivots_to_permutation(pivots - 1, factors.shape[-1])
    order = jnp.broadcast_to(order, jnp.broadcast_shapes(order.shape, b.shape[:-1]))
    factors, b = _of_one_batch(factors, b)
    factors = jnp.conj(factors) if conjugate else factors
    if not turned:
        b = jnp.take_along_axis(b, order[..., None], -2)
        return _solved(factors, _solved(factors, b, True, True), False)
    made = _solved(factors, _solved(factors, b, False, turned=True), True, True, turned=True)
    return jnp.take_along_axis(made, jnp.argsort(order, -1)[..., None], -2)


@row("linalg_solve_triangular.default")
def solve_triangular(a, b, upper, left=True, unitriangular=False):
    a, b = _of_one_batch(a, b)
    return lax.linalg.triangular_solve(a, b, left_side=left, lower=not upper, unit_diagonal=unitriangular)


@row("triangular_solve.default")
def old_triangular_solve(b, a, upper=True, transpose=False, unitriangular=False):
    a, b = _of_one_batch(a, b)
    return _solved(a, b, not upper, unitriangular, turned=transpose), a


@row("linalg_cholesky_ex.default")
def cholesky(a, upper=False, check_errors=False):
    made = lax.linalg.cholesky(_conjugate_turned(a) if upper else a, symmetrize_input=False)
    info = jnp.any(jnp.isnan(jnp.real(made)), (-2, -1)).astype(jnp.int32)
    return _conjugate_turned(made) if upper else made, info


@row("cholesky_solve.default")
def cholesky_solve(b, factor, upper=False):
    factor, b = _of_one_batch(_conjugate_turned(factor) if upper else factor, b)
    return _solved(factor, _solved(factor, b, True), True, turned=True, conjugate=True)


@row("cholesky_inverse.default")
def cholesky_inverse(factor, upper=False):
    return cholesky_solve(jnp.broadcast_to(jnp.eye(factor.shape[-1], dtype=factor.dtype), factor.shape), factor, upper)


@row("linalg_qr.default")
def qr(a, mode="reduced"):
    q, r = jnp.linalg.qr(a, "complete" if mode == "complete" else "reduced")
    return (jnp.zeros((0,), a.dtype) if mode == "r" else q), r


@row("linalg_householder_product.default")
def householder_product(a, factors):
    return lax.linalg.householder_product(a, factors)


@row("linalg_matrix_exp.default")
def matrix_exp(a):
    return jax.scipy.linalg.expm(a) if a.size else a


@row("_linalg_eigh.default")
def eigh(a, side="L", compute_v=True):
    half = jnp.tril(a, -1) if side == "L" else _conjugate_turned(jnp.triu(a, 1))
    heads = jnp.real(jnp.diagonal(a, axis1=-2, axis2=-1))
    whole = half + _conjugate_turned(half) + heads[..., None] * jnp.eye(a.shape[-1], dtype=heads.dtype)
    values, vectors = eigenvectors(whole.astype(a.dtype))
    return values, vectors if compute_v else jnp.zeros((0,), a.dtype)


@row("_linalg_svd.default")
def svd(a, full_matrices=False, compute_uv=True, driver=None):
    is_wide = a.shape[-2] < a.shape[-1]
    u, values, v = singular_vectors(_conjugate_turned(a) if is_wide else a, full_matrices)
    if not compute_uv:
        return jnp.zeros((0,), a.dtype), values, jnp.zeros((0,), a.dtype)
    return (v, values, _conjugate_turned(u)) if is_wide else (u, values, _conjugate_turned(v))


@row("linalg_pinv.atol_rtol_tensor")
def pinv(a, atol=None, rtol=None, hermitian=False):
    u, values, v = svd(a)
    if not values.shape[-1]:
        return jnp.zeros(a.shape[:-2] + (a.shape[-1], a.shape[-2]), a.dtype)
    atol = jnp.zeros((), values.dtype) if atol is None else atol
    if rtol is None:
        rtol = jnp.where(atol > 0, 0, max(a.shape[-2:]) * jnp.finfo(values.dtype).eps)
    limit = jnp.maximum(atol, rtol * values[..., 0])[..., None]
    inverted = jnp.where(values > limit, 1 / jnp.where(values > limit, values, 1), 0)
    return jnp.matmul(_conjugate_turned(v) * inverted[..., None, :].astype(a.dtype), _conjugate_turned(u))


@row("_linalg_check_errors.default")
def check_errors(info, name, is_matrix):
    """An error would be the host's: what comes of such a matrix is told above."""
    return None


# What is computed of them, taken apart --------------------------------------------------------------------------------
# Gradients ask for the factors that PyTorch keeps: of a real matrix that is dense they may be those of the turned one, which is another matter in
# each version.


@functools.cache
def _turns(operator):
    """Asked of PyTorch itself, and not when this is imported: a process that forks later should not have begun to compute."""
    with _disable_current_modes():
        a = torch.tensor([[1.0, 2], [3, 4]])
        made = operator(a, a) if operator is _aten._linalg_solve_ex.default else operator(a)
        return bool(made[2 if operator is _aten._linalg_slogdet.default else 1][0, 0] == 2)


def _is_turned(operator, a):
    return _turns(operator) and a.is_contiguous() and not a.is_complex()


def _factored(operator, a):
    return _aten.linalg_lu_factor_ex.default(a.mT if _is_turned(operator, a) else a)


def _sign(pivots, dtype):
    exchanged = (pivots != torch.arange(1, pivots.shape[-1] + 1, device=pivots.device)).sum(-1)
    return (1 - 2 * (exchanged % 2)).to(dtype)


def _det(a):
    factors, pivots, _ = _factored(_aten._linalg_det.default, a)
    return factors.diagonal(0, -2, -1).prod(-1) * _sign(pivots, a.dtype), factors, pivots


def _slogdet(a):
    factors, pivots, _ = _factored(_aten._linalg_slogdet.default, a)
    heads = factors.diagonal(0, -2, -1)
    return torch.sgn(heads).prod(-1) * _sign(pivots, a.dtype), heads.abs().log().sum(-1), factors, pivots


def _solve(a, b, *, left=True, check_errors=False):
    is_vector = b.dim() == 1 or (a.dim() - 1 == b.dim() and b.shape == a.shape[:-1])
    factors, pivots, info = _factored(_aten._linalg_solve_ex.default, a)
    made = _aten.linalg_lu_solve.default(factors, pivots, b.unsqueeze(-1) if is_vector else b, left=left, adjoint=_is_turned(_aten._linalg_solve_ex.default, a))
    return made.squeeze(-1) if is_vector else made, factors, pivots, info


def _inv(a, *, check_errors=False):
    made, _, _, info = _solve(a, torch.eye(a.shape[-1], dtype=a.dtype, device=a.device).expand(a.shape))
    return made, info


def decompositions():
    return {_aten._linalg_det.default: _det, _aten._linalg_slogdet.default: _slogdet, _aten._linalg_solve_ex.default: _solve,
            _aten.linalg_inv_ex.default: _inv}
