"""Factorizations and transforms that plugins do: LAPACK and FFTW (modules/libraries)."""
import jax
import jax.numpy as jnp

from .registry import c64, f32, f64, program


def lapack(*arguments, **options):
    return program(*arguments, libraries=("lapack",), **options)


def fft(*arguments, **options):
    return program(*arguments, libraries=("fft",), **options)


@lapack(f32(6, 4))
def singular_values(a):
    return jnp.linalg.svd(a, compute_uv=False)


def signs_of(rows):
    """Vectors are told up to their sign: each as the one whose largest number is above zero."""
    largest = jnp.take_along_axis(rows, jnp.argmax(jnp.abs(rows), axis=-1, keepdims=True), axis=-1)
    return rows * jnp.sign(largest)


@lapack(f32(7, 4), tolerance=1e-4)
def singular_vectors(a):
    u, s, vt = jnp.linalg.svd(a, full_matrices=False)
    return u @ (s[:, None] * vt), s, signs_of(vt)


@lapack(f64(2, 3, 5), x64=True, tolerance=1e-10)
def singular_vectors_of_batch(a):
    u, s, vt = jnp.linalg.svd(a)
    return s, jnp.einsum("bij,bkj->bik", u, u), u[..., :3] @ (s[..., None] * vt[..., :3, :])


@lapack(f32(6, 4), f32(3, 5, 5), tolerance=1e-4)
def orthogonal(a, batch):
    q, r = jnp.linalg.qr(a)
    return q @ r, q.T @ q, jnp.abs(r), jnp.matmul(*jnp.linalg.qr(batch))


@lapack(f32(3, 7), tolerance=1e-4)
def orthogonal_of_wide(a):
    q, r = jnp.linalg.qr(a, mode="complete")
    return q @ r, q @ q.T


@lapack(f32(5, 5), f64(2, 4, 4), x64=True, tolerance=1e-4)
def eigenvalues_of_symmetric(a, batch):
    w, v = jnp.linalg.eigh(a + a.T)
    return w, v @ (w[:, None] * v.T), jnp.linalg.eigvalsh(batch + jnp.swapaxes(batch, 1, 2))


@lapack(f32(5, 5), f32(2, 6, 6), tolerance=1e-4)
def cholesky_by_library(a, batch):
    return (jnp.linalg.cholesky(a @ a.T + 5 * jnp.eye(5)),
            jnp.linalg.cholesky(batch @ jnp.swapaxes(batch, 1, 2) + 6 * jnp.eye(6), upper=True))


@lapack(f32(4, 4), tolerance=1e-4)
def cholesky_of_what_has_none(a):
    return jnp.isnan(jnp.linalg.cholesky(a + a.T - 10 * jnp.eye(4)))


@lapack(f32(4, 4), f32(4, 3), f32(2, 5, 5), tolerance=1e-4)
def solve_by_library(a, b, batch):
    return jnp.linalg.solve(a + 4 * jnp.eye(4), b), jnp.linalg.inv(batch + 5 * jnp.eye(5)), jnp.linalg.det(a)


@lapack(f32(5, 3), f32(5, 2), tolerance=1e-4)
def least_squares(a, b):
    return jnp.linalg.lstsq(a, b)[0], jnp.linalg.pinv(a)


@lapack(f64(6, 6), f64(6, 3), f64(3, 6), x64=True, tolerance=1e-10)
def triangles(a, b, c):
    a = a + 6 * jnp.eye(6)
    solve = jax.lax.linalg.triangular_solve
    ways = [solve(a, right, left_side=left, lower=lower, transpose_a=transposed, unit_diagonal=unit)
            for left, right in ((True, b), (False, c)) for lower in (False, True) for transposed in (False, True) for unit in (False, True)]
    return tuple(ways)


@lapack(f32(6, 6), f32(6), tolerance=1e-3)
def gradient_through_factors(a, b):
    def loss(a):
        factor = jnp.linalg.cholesky(a @ a.T + 6 * jnp.eye(6))
        return jnp.sum(jax.scipy.linalg.solve_triangular(factor, b, lower=True) ** 2)

    return jax.grad(loss)(a)


@fft(f32(3, 64), c64(3, 60), f32(2, 8, 12))
def transforms_by_library(x, z, y):
    return (jnp.fft.rfft(x), jnp.fft.fft(z), jnp.fft.ifft(z, axis=0), jnp.fft.irfft(jnp.fft.rfft(x)), jnp.fft.fft2(y), jnp.fft.rfft2(y),
            jnp.fft.irfft(z, n=119))


@fft(f32(2, 10000), c64(7919), tolerance=1e-4)
def long_transforms(x, z):
    return jnp.fft.rfft(x), jnp.fft.fft(z)


@fft(f32(2, 4, 6, 10), c64(4, 6, 5))
def transforms_of_three_dimensions(x, z):
    return jnp.fft.rfftn(x, axes=(1, 2, 3)), jnp.fft.fftn(z), jnp.fft.irfftn(jnp.fft.rfftn(x, axes=(1, 2, 3)), axes=(1, 2, 3))


@fft(f32(40, 1024), f32(37, 999), f32(5, 48, 90), c64(24, 1000), c64(50, 513), c64(40000), f32(3, 1), f32(3, 2))
def transforms_of_batches_in_parts(x, odd, plane, z, half, long, one, two):
    f = jnp.fft
    return (f.rfft(x), f.rfft(odd), f.rfft2(plane), f.irfft2(f.rfft2(plane), (48, 91)), f.fft(z), f.ifft(z), f.irfft(half), f.irfft(half, 1023),
            f.fft(long), f.irfft(long, 79998), f.rfft(one), f.rfft(two), f.irfft(f.rfft(one), 1), f.irfft(f.rfft(two)))


@fft(f32(512), f32(33))
def convolution_by_transform(x, kernel):
    return jax.scipy.signal.fftconvolve(x, kernel, mode="same")


@lapack(f32(48, 48), f32(2, 48, 36), f64(40, 48), x64=True, tolerance=3e-4)
def matrices_of_many_rows(a, batch, wide):
    """So many that cuSOLVER is asked, too, in tests/gpu/factorizations.py."""
    one = jnp.eye(48, dtype=a.dtype)
    definite = a @ a.T + 48 * one
    full = a / 50 + one
    solved = [jax.lax.linalg.triangular_solve(full, a[:, :5] if left else a[:5], left_side=left, lower=lower, transpose_a=turned, unit_diagonal=unit)
              for left in (True, False) for lower in (True, False) for turned in (False, True) for unit in (False, True)]
    q, r = jnp.linalg.qr(batch)
    w, v = jnp.linalg.eigh(a + a.T)
    u, s, vt = jnp.linalg.svd(wide, full_matrices=False)
    factors = jax.lax.linalg.lu(wide)
    return [jnp.linalg.cholesky(definite), jnp.linalg.cholesky(definite, upper=True), jnp.linalg.solve(definite, a[:, 0]), *factors, *solved, q @ r,
            jnp.swapaxes(q, 1, 2) @ q, w, (v * w) @ v.T, s, (u * s) @ vt, jnp.linalg.svd(batch, compute_uv=False)]


@lapack(f32(300, 300), tolerance=3e-4)
def eigenvalues_of_a_large_matrix(a):
    return jnp.linalg.eigvalsh(a + a.T)
