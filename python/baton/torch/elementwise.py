"""Rows of the table: element by element, numbers made from nothing, and types."""
import functools

import jax
import jax.numpy as jnp
from jax import lax

from .graph import NotLowered, row
from .types import jax_type


def _is_float(x):
    return jnp.issubdtype(jnp.result_type(x), jnp.inexact)


def as_float(x):
    """PyTorch computes what is no integer of integers in its default type."""
    return x if _is_float(x) else jnp.asarray(x).astype(jnp.float32)


def _wide(function):
    """What takes several steps takes them in f32, as PyTorch does: of 16 bits each step would round."""
    @functools.wraps(function)
    def in_f32(*arguments, **keywords):
        return function(*(_widened(each) for each in arguments), **keywords)

    return in_f32


def _widened(x):
    return x.astype(jnp.float32) if hasattr(x, "dtype") and jnp.issubdtype(x.dtype, jnp.floating) and x.dtype.itemsize < 4 else x


def _plain(names, function):
    row(*(f"{name}.default" for name in names.split()))(function)


for name, function in {
        "abs": jnp.abs, "neg": jnp.negative, "sign": lambda x: jnp.where(x != x, 0, jnp.sign(x)), "logical_not": jnp.logical_not, "bitwise_not": jnp.bitwise_not, "isnan": jnp.isnan,
        "isinf": jnp.isinf, "relu": lambda x: jnp.maximum(x, 0), "square": jnp.square, "clone": lambda x, **_: x, "detach": lambda x: x, "alias": lambda x: x,
        "lift_fresh_copy": lambda x: x, "contiguous": lambda x, **_: x, "positive": lambda x: x, "isfinite": jnp.isfinite}.items():
    _plain(name, function)
for name in "ceil floor trunc".split():
    _plain(name, lambda x, function=getattr(jnp, name): function(x) if _is_float(x) else x)
for name, function in {
        "exp": jnp.exp, "exp2": jnp.exp2, "expm1": jnp.expm1, "log": jnp.log, "log2": jnp.log2, "log10": jnp.log10, "log1p": jnp.log1p, "sqrt": jnp.sqrt,
        "rsqrt": lax.rsqrt, "sin": jnp.sin, "cos": jnp.cos, "tan": jnp.tan, "asin": jnp.arcsin, "acos": jnp.arccos, "atan": jnp.arctan, "sinh": jnp.sinh,
        "cosh": jnp.cosh, "tanh": jnp.tanh, "asinh": jnp.arcsinh, "acosh": jnp.arccosh, "atanh": jnp.arctanh, "erf": lax.erf, "erfc": lax.erfc,
        "sigmoid": jax.nn.sigmoid, "reciprocal": lambda x: 1 / x, "lgamma": lax.lgamma, "digamma": lax.digamma, "silu": jax.nn.silu,
        "log_sigmoid": jax.nn.log_sigmoid}.items():
    _plain(name, _wide(lambda x, function=function: function(as_float(x))))

for name, function in {
        "mul": jnp.multiply, "eq": jnp.equal, "ne": jnp.not_equal, "lt": jnp.less, "le": jnp.less_equal, "gt": jnp.greater, "ge": jnp.greater_equal,
        "remainder": _wide(jnp.remainder), "fmod": _wide(jnp.fmod), "bitwise_and": jnp.bitwise_and, "bitwise_or": jnp.bitwise_or, "bitwise_xor": jnp.bitwise_xor,
        "bitwise_left_shift": jnp.left_shift, "bitwise_right_shift": jnp.right_shift, "__lshift__": jnp.left_shift, "__rshift__": jnp.right_shift}.items():
    row(f"{name}.Tensor", f"{name}.Scalar")(function)
for name, function in {"maximum": jnp.maximum, "minimum": jnp.minimum, "logical_and": jnp.logical_and, "logical_or": jnp.logical_or,
                       "logical_xor": jnp.logical_xor, "atan2": jnp.arctan2, "fmax": jnp.fmax, "fmin": jnp.fmin, "hypot": _wide(jnp.hypot),
                       "copysign": jnp.copysign, "gcd": jnp.gcd, "lcm": jnp.lcm}.items():
    row(f"{name}.default", f"{name}.Tensor")(function)
row("prims.gcd")(jnp.gcd)
row("prims.shift_left")(jnp.left_shift)
row("prims.shift_right_arithmetic")(jnp.right_shift)
row("_neg_view.default", "_neg_view_copy.default", "resolve_neg.default")(jnp.negative)


@row("add.Tensor", "add.Scalar")
@_wide
def add(x, y, alpha=1):
    return jnp.add(x, y if alpha == 1 else y * alpha)


@row("sub.Tensor", "sub.Scalar")
@_wide
def sub(x, y, alpha=1):
    return jnp.subtract(x, y if alpha == 1 else y * alpha)


@row("rsub.Tensor", "rsub.Scalar")
@_wide
def rsub(x, y, alpha=1):
    return jnp.subtract(y, x if alpha == 1 else x * alpha)


@row("div.Tensor", "div.Scalar", "true_divide.Tensor")
def div(x, y):
    return jnp.true_divide(as_float(x), y)


@row("div.Tensor_mode", "div.Scalar_mode")
@_wide
def div_mode(x, y, rounding_mode=None):
    if rounding_mode is None:
        return div(x, y)
    if rounding_mode == "floor":
        return jnp.floor_divide(x, y)
    if _is_float(x) or _is_float(y):
        return jnp.trunc(jnp.true_divide(x, y))
    made = jnp.result_type(x, y)
    return lax.div(*(each.astype(made) for each in jnp.broadcast_arrays(x, y)))


@row("floor_divide.default", "floor_divide.Scalar")
@_wide
def floor_divide(x, y):
    return jnp.floor_divide(x, y)


@row("pow.Tensor_Tensor", "pow.Tensor_Scalar", "pow.Scalar")
@_wide
def power(x, y):
    if isinstance(y, float) and y == int(y) and abs(y) < 5:
        y = int(y)
    if isinstance(y, int) and y < 0:
        x = as_float(x)
    if isinstance(y, float) and y == 0.5:
        return jnp.sqrt(as_float(x))
    if hasattr(y, "dtype") and not _is_float(x) and not _is_float(y):
        return _power_of_integers(x, y)
    return jnp.power(x, y)


def _power_of_integers(x, y):
    """Below one stands 0, but for powers of 1 and -1, which are their own."""
    made = jnp.result_type(x, y)
    x, y = jnp.asarray(x).astype(made), y.astype(made)
    if jnp.issubdtype(made, jnp.unsignedinteger) or made == jnp.bool_:
        return jnp.power(x, y)
    below = jnp.where(x == 1, 1, jnp.where(x == -1, jnp.where(y % 2 == 0, 1, -1), 0))
    return jnp.where(y < 0, below, jnp.power(x, jnp.maximum(y, 0))).astype(made)


@row("addcmul.default")
@_wide
def addcmul(x, a, b, value=1):
    return x + value * a * b


@row("prims.fma")
@_wide
def fma(a, b, x):
    return a * b + x


@row("addcdiv.default")
@_wide
def addcdiv(x, a, b, value=1):
    return x + value * a / b


@row("lerp.Scalar", "lerp.Tensor")
@_wide
def lerp(a, b, weight):
    return a + weight * (b - a)


@row("where.self", "where.ScalarSelf", "where.ScalarOther", "where.Scalar")
def where(condition, x, y):
    return jnp.where(condition, x, y)


@row("masked_fill.Scalar", "masked_fill.Tensor")
def masked_fill(x, mask, value):
    return jnp.where(mask, jnp.asarray(value).astype(x.dtype), x)


@row("clamp.default", "clamp.Tensor")
def clamp(x, min=None, max=None):  # noqa: A002 - the names of the schema
    x = x if min is None else jnp.maximum(x, min)
    return x if max is None else jnp.minimum(x, max)


@row("clamp_min.default")
def clamp_min(x, low):
    return jnp.maximum(x, low)


@row("clamp_max.default")
def clamp_max(x, high):
    return jnp.minimum(x, high)


@row("round.default", "round.decimals")
@_wide
def round_(x, decimals=0):
    return jnp.round(x, decimals) if _is_float(x) else x


@row("signbit.default")
def signbit(x):
    return jnp.signbit(x) if _is_float(x) else x < 0


# Activations ---------------------------------------------------------------------------------------------------------


@row("gelu.default")
@_wide
def gelu(x, approximate="none"):
    return jax.nn.gelu(x, approximate=approximate == "tanh")


@row("leaky_relu.default")
def leaky_relu(x, negative_slope=0.01):
    return jnp.where(x > 0, x, x * negative_slope)


@row("elu.default")
@_wide
def elu(x, alpha=1, scale=1, input_scale=1):
    return jnp.where(x > 0, x * scale, alpha * scale * jnp.expm1(jnp.minimum(x, 0) * input_scale))


@row("hardtanh.default")
def hardtanh(x, low=-1, high=1):
    return jnp.clip(x, low, high)


@row("hardsigmoid.default")
@_wide
def hardsigmoid(x):
    return jnp.clip(x + 3, 0, 6) / 6


@row("hardswish.default")
@_wide
def hardswish(x):
    return x * jnp.clip(x + 3, 0, 6) / 6


@row("softplus.default")
@_wide
def softplus(x, beta=1, threshold=20):
    return jnp.where(x * beta > threshold, x, jax.nn.softplus(x * beta) / beta)


@row("mish.default")
@_wide
def mish(x):
    return x * jnp.tanh(jax.nn.softplus(x))


@row("prelu.default", "_prelu_kernel.default")
def prelu(x, weight):
    return jnp.where(x > 0, x, x * weight)


@row("rrelu_with_noise_functional.default")
def rrelu(x, noise, lower=1 / 8, upper=1 / 3, training=False, generator=None):
    if training:
        raise NotLowered("rrelu while training takes random numbers, which are not lowered; model.eval() takes none")
    return leaky_relu(x, (lower + upper) / 2), noise


# From nothing --------------------------------------------------------------------------------------------------------


def _type(dtype, otherwise):
    return otherwise if dtype is None else jax_type(dtype)


@row("full.default")
def full(size, value, dtype=None, **_):
    return jnp.full(tuple(size), value, _type(dtype, None))


@row("full_like.default")
def full_like(x, value, dtype=None, **_):
    return jnp.full(x.shape, value, _type(dtype, x.dtype))


@row("empty.memory_format", "zeros.default")
def zeros(size, dtype=None, **_):
    return jnp.zeros(tuple(size), _type(dtype, jnp.float32))


@row("ones.default")
def ones(size, dtype=None, **_):
    return jnp.ones(tuple(size), _type(dtype, jnp.float32))


@row("empty_strided.default", "empty_permuted.default")
def empty_strided(size, stride, dtype=None, **_):
    return zeros(size, dtype)


@row("new_zeros.default", "new_empty.default", "new_empty_strided.default")
def new_zeros(x, size, *_, dtype=None, **__):
    return jnp.zeros(tuple(size), _type(dtype, x.dtype))


@row("new_ones.default")
def new_ones(x, size, dtype=None, **_):
    return jnp.ones(tuple(size), _type(dtype, x.dtype))


@row("new_full.default")
def new_full(x, size, value, dtype=None, **_):
    return jnp.full(tuple(size), value, _type(dtype, x.dtype))


@row("zeros_like.default", "empty_like.default")
def zeros_like(x, dtype=None, **_):
    return jnp.zeros(x.shape, _type(dtype, x.dtype))


@row("ones_like.default")
def ones_like(x, dtype=None, **_):
    return jnp.ones(x.shape, _type(dtype, x.dtype))


@row("arange.start_step")
def arange(start, end, step=1, dtype=None, **_):
    made = _type(dtype, jnp.int64 if all(not isinstance(each, float) for each in (start, end, step)) else jnp.float32)
    if not all(isinstance(each, (int, float)) for each in (start, end, step)):
        return start + step * jnp.arange(-(-(end - start) // step), dtype=made)
    return jnp.arange(start, end, step, made)


@row("arange.start")
def arange_from(start, end, **keywords):
    return arange(start, end, **keywords)


@row("arange.default")
def arange_to(end, **keywords):
    return arange(0, end, **keywords)


@row("prims.iota")
def iota(length, start=0, step=1, dtype=None, **_):
    return start + step * jnp.arange(length, dtype=_type(dtype, jnp.int64))


@row("scalar_tensor.default")
def scalar_tensor(value, dtype=None, **_):
    return jnp.asarray(value, _type(dtype, None))


@row("eye.default", "eye.m")
def eye(rows, columns=None, dtype=None, **_):
    return jnp.eye(rows, columns, dtype=_type(dtype, jnp.float32))


@row("_to_copy.default", "to.dtype")
def to_copy(x, dtype=None, **_):
    if dtype is None:
        return x
    made = jax_type(dtype)
    return x != 0 if made == jnp.bool_ else _cast(jnp.asarray(x), made)


def _cast(x, made):
    """Of a number that an integer of 8 or 16 bits has no room for PyTorch keeps the low bits; JAX takes the nearest that there is."""
    if jnp.issubdtype(made, jnp.integer) and made.itemsize < 4 and jnp.issubdtype(x.dtype, jnp.floating):
        x = x.astype(jnp.int32)
    return x.astype(made)


@row("prims.convert_element_type")
def convert_element_type(x, dtype):
    return to_copy(x, dtype)


@row("fill.Scalar", "fill.Tensor")
def fill(x, value):
    return jnp.broadcast_to(jnp.asarray(value).astype(x.dtype), x.shape)


@row("copy.default")
def copy(x, source, non_blocking=False):
    return jnp.broadcast_to(jnp.asarray(source).astype(x.dtype), x.shape)


@row("_assert_tensor_metadata.default", "_assert_scalar.default", "_assert_async.msg", "sym_constrain_range_for_size.default", "sym_constrain_range.default")
def nothing(*_, **__):
    """What exporting checked, or checks of sizes, which the program makes at its boundary."""
    return None
