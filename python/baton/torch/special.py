"""Rows of the table: functions of mathematics that have names of their own."""
import math

import jax.numpy as jnp
from jax import lax
from jax.scipy import special

from .elementwise import as_float
from .graph import row

for name, function in {
        "i0": special.i0, "i0e": special.i0e, "i1": special.i1, "i1e": special.i1e, "ndtri": special.ndtri, "erfinv": lax.erf_inv, "entr": special.entr,
        "ndtr": special.ndtr, "log_ndtr": special.log_ndtr, "sinc": jnp.sinc, "expit": special.expit}.items():
    row(f"{name}.default", f"special_{name}.default")(lambda x, function=function: function(as_float(x)))
for name, function in {"bessel_i0": special.i0, "bessel_i0e": special.i0e, "bessel_i1": special.i1, "bessel_i1e": special.i1e, "erf_inv": lax.erf_inv,
                       "ndtri": special.ndtri}.items():
    row(f"prims.{name}")(lambda x, function=function: function(as_float(x)))


def _of_two(function):
    return lambda x, y: function(*jnp.broadcast_arrays(*_floats(x, y)))


def _floats(x, y):
    made = jnp.result_type(as_float(jnp.asarray(x)), as_float(jnp.asarray(y))) if hasattr(x, "dtype") and hasattr(y, "dtype") else as_float(
        x if hasattr(x, "dtype") else y).dtype
    return (jnp.asarray(each).astype(made) for each in (x, y))


def _zeta(s, x):
    """JAX's is right from 0 on: below, its terms are summed until there."""
    def below(carried):
        return jnp.any(carried[0] < 0)

    def next_term(carried):
        x, total = carried
        return jnp.where(x < 0, x + 1, x), total + jnp.where(x < 0, jnp.power(x, -s), 0)

    x, total = lax.while_loop(below, next_term, (x, jnp.zeros_like(x)))
    return special.zeta(s, x) + total


row("special_zeta.default", "special_zeta.other_scalar", "special_zeta.self_scalar", "prims.zeta")(_of_two(_zeta))
row("xlogy.Tensor", "xlogy.Scalar_Self", "xlogy.Scalar_Other", "special_xlogy.default")(_of_two(special.xlogy))
row("special_xlog1py.default", "special_xlog1py.other_scalar", "special_xlog1py.self_scalar")(_of_two(special.xlog1py))
row("igamma.default", "special_gammainc.default", "prims.igamma")(_of_two(lax.igamma))
row("igammac.default", "special_gammaincc.default", "prims.igammac")(_of_two(lax.igammac))
row("nextafter.default", "prims.nextafter")(_of_two(lax.nextafter))


@row("polygamma.default", "special_polygamma.default")
def polygamma(order, x):
    x = as_float(x)
    if order == 0:
        return lax.digamma(x)
    return (-1)**(order + 1) * math.factorial(order) * _zeta(jnp.full(x.shape, order + 1, x.dtype), x)


@row("mvlgamma.default")
def mvlgamma(x, order):
    return special.multigammaln(as_float(x), order)


@row("frexp.Tensor", "prims.frexp")
def frexp(x):
    return jnp.frexp(x)


@row("ldexp.Tensor")
def ldexp(x, exponent):
    return as_float(x) * jnp.exp2(as_float(exponent))


@row("heaviside.default")
def heaviside(x, at_zero):
    return jnp.where(x == 0, at_zero, (x > 0).astype(x.dtype))
