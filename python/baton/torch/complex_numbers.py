"""Rows of the table: complex numbers, and Fourier transforms."""
import math

import jax.numpy as jnp
from jax import lax

from .graph import row
from .shapes import at


@row("view_as_real.default", "view_as_real_copy.default")
def view_as_real(x):
    return jnp.stack([jnp.real(x), jnp.imag(x)], -1)


@row("view_as_complex.default", "view_as_complex_copy.default")
def view_as_complex(x):
    return lax.complex(x[..., 0], x[..., 1])


@row("complex.default")
def complex_(x, y):
    return lax.complex(*jnp.broadcast_arrays(x, y))


@row("polar.default")
def polar(size, angle):
    return complex_(size * jnp.cos(angle), size * jnp.sin(angle))


row("real.default")(jnp.real)
row("imag.default")(jnp.imag)
row("_conj.default", "_conj_physical.default", "conj_physical.default")(jnp.conj)
row("angle.default")(jnp.angle)


def _scaled(made, normalization, sizes, is_back=False):
    """0 divides by nothing, 1 by the root of the number of elements, 2 by that; JAX's transforms back have divided by it."""
    count = math.prod(sizes)
    factor = (1, count**-0.5, 1 / count)[normalization] * (count if is_back else 1)
    return made if factor == 1 else made * factor


def _sizes(x, dimensions):
    return [x.shape[at(each, x.ndim)] for each in dimensions]


@row("_fft_c2c.default")
def fft_c2c(x, dimensions, normalization, forward):
    made = (jnp.fft.fftn if forward else jnp.fft.ifftn)(x, axes=tuple(dimensions))
    return _scaled(made, normalization, _sizes(x, dimensions), not forward)


@row("_fft_r2c.default")
def fft_r2c(x, dimensions, normalization, onesided):
    if onesided:
        made = jnp.fft.rfftn(x, axes=tuple(dimensions))
    else:
        made = jnp.fft.fftn(x.astype(jnp.complex128 if x.dtype == jnp.float64 else jnp.complex64), axes=tuple(dimensions))
    return _scaled(made, normalization, _sizes(x, dimensions))


@row("_fft_c2r.default")
def fft_c2r(x, dimensions, normalization, last):
    sizes = _sizes(x, dimensions[:-1]) + [last]
    return _scaled(jnp.fft.irfftn(x, sizes, axes=tuple(dimensions)), normalization, sizes, True)
