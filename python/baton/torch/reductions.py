"""Rows of the table: reductions, scans, norms, order."""
import jax
import jax.numpy as jnp
from jax import lax

from .graph import row
from .shapes import along, at
from .types import jax_type


def _axes(dimensions):
    if dimensions is None or (not isinstance(dimensions, int) and not len(dimensions)):
        return None
    return dimensions if isinstance(dimensions, int) else tuple(dimensions)


def _wide(x, dtype):
    """Sums of integers are of 64 bits."""
    if dtype is not None:
        return x.astype(jax_type(dtype))
    return x if jnp.issubdtype(x.dtype, jnp.inexact) else x.astype(jnp.int64)


@along("sum.default", "sum.dim_IntList")
def sum_(x, dimensions=None, keepdim=False, dtype=None):
    return jnp.sum(_wide(x, dtype), _axes(dimensions), keepdims=keepdim)


@along("mean.default", "mean.dim")
def mean(x, dimensions=None, keepdim=False, dtype=None):
    return jnp.mean(_wide(x, dtype), _axes(dimensions), keepdims=keepdim)


@row("prod.default")
def prod_all(x, dtype=None):
    return jnp.prod(_wide(x, dtype))


@along("prod.dim_int")
def prod(x, dimension, keepdim=False, dtype=None):
    return jnp.prod(_wide(x, dtype), dimension, keepdims=keepdim)


@along("amax.default")
def amax(x, dimensions=(), keepdim=False):
    return jnp.max(x, _axes(dimensions), keepdims=keepdim)


@along("amin.default")
def amin(x, dimensions=(), keepdim=False):
    return jnp.min(x, _axes(dimensions), keepdims=keepdim)


@row("max.default")
def max_(x):
    return jnp.max(x)


@row("min.default")
def min_(x):
    return jnp.min(x)


@along("max.dim")
def max_dim(x, dimension, keepdim=False):
    return jnp.max(x, dimension, keepdims=keepdim), jnp.argmax(x, dimension, keepdims=keepdim)


@along("min.dim")
def min_dim(x, dimension, keepdim=False):
    return jnp.min(x, dimension, keepdims=keepdim), jnp.argmin(x, dimension, keepdims=keepdim)


@along("argmax.default")
def argmax(x, dimension=None, keepdim=False):
    return jnp.argmax(x, dimension, keepdims=keepdim)


@along("argmin.default")
def argmin(x, dimension=None, keepdim=False):
    return jnp.argmin(x, dimension, keepdims=keepdim)


@along("any.default", "any.dim", "any.dims")
def any_(x, dimensions=None, keepdim=False):
    return jnp.any(x != 0, _axes(dimensions), keepdims=keepdim)


@along("all.default", "all.dim", "all.dims")
def all_(x, dimensions=None, keepdim=False):
    return jnp.all(x != 0, _axes(dimensions), keepdims=keepdim)


@along("var.correction", "var.dim")
def var(x, dimensions=None, correction=1, keepdim=False):
    return jnp.var(x, _axes(dimensions), ddof=1 if correction is None else correction, keepdims=keepdim)


@along("std.correction")
def std(x, dimensions=None, correction=1, keepdim=False):
    return jnp.sqrt(var(x, dimensions, correction, keepdim))


@along("var_mean.correction")
def var_mean(x, dimensions=None, correction=1, keepdim=False):
    return var(x, dimensions, correction, keepdim), jnp.mean(x, _axes(dimensions), keepdims=keepdim)


@along("linalg_vector_norm.default")
def vector_norm(x, order=2, dimensions=None, keepdim=False, dtype=None):
    x = x if dtype is None else x.astype(jax_type(dtype))
    size = jnp.abs(x)
    if order in (float("inf"), -float("inf")):
        return (jnp.max if order > 0 else jnp.min)(size, _axes(dimensions), keepdims=keepdim)
    if order == 0:
        return jnp.sum(size != 0, _axes(dimensions), keepdims=keepdim)
    if order == 2:
        return jnp.sqrt(jnp.sum(size * size, _axes(dimensions), keepdims=keepdim))
    return jnp.sum(size**order, _axes(dimensions), keepdims=keepdim)**(1 / order)


@along("logsumexp.default")
def logsumexp(x, dimensions, keepdim=False):
    return jax.nn.logsumexp(x, _axes(dimensions), keepdims=keepdim)


@along("_softmax.default", "softmax.int")
def softmax(x, dimension, half_to_float=False):
    return jax.nn.softmax(x.astype(jnp.float32) if x.dtype.itemsize < 4 else x, dimension)


@along("_log_softmax.default", "log_softmax.int")
def log_softmax(x, dimension, half_to_float=False):
    return jax.nn.log_softmax(x.astype(jnp.float32) if x.dtype.itemsize < 4 else x, dimension)


@row("_softmax_backward_data.default")
def softmax_backward(gradient, output, dimension, dtype):
    made = gradient * output
    return made - output * jnp.sum(made, dimension, keepdims=True)


@row("_log_softmax_backward_data.default")
def log_softmax_backward(gradient, output, dimension, dtype):
    return gradient - jnp.exp(output) * jnp.sum(gradient, dimension, keepdims=True)


@along("cumsum.default")
def cumsum(x, dimension, dtype=None):
    return jnp.cumsum(_wide(x, dtype), dimension)


@along("cumprod.default")
def cumprod(x, dimension, dtype=None):
    return jnp.cumprod(_wide(x, dtype), dimension)


@along("cummax.default")
def cummax(x, dimension):
    return _running(x, dimension, jnp.greater_equal)


@along("cummin.default")
def cummin(x, dimension):
    return _running(x, dimension, jnp.less_equal)


def _running(x, dimension, wins):
    def later(a, b):
        take = (b[0] != b[0]) | ((a[0] == a[0]) & wins(b[0], a[0]))  # What is no number stays from where it stands.
        return jnp.where(take, b[0], a[0]), jnp.where(take, b[1], a[1])

    places = lax.broadcasted_iota(jnp.int64, x.shape, at(dimension, x.ndim))
    return lax.associative_scan(later, (x, places), axis=at(dimension, x.ndim))


@along("logcumsumexp.default")
def logcumsumexp(x, dimension):
    return lax.associative_scan(jnp.logaddexp, x, axis=at(dimension, x.ndim))


# Norms ---------------------------------------------------------------------------------------------------------------


@row("native_layer_norm.default")
def layer_norm(x, shape, weight, bias, epsilon):
    axes = tuple(range(x.ndim - len(shape), x.ndim))
    wide = x.astype(jnp.float32) if x.dtype.itemsize < 4 else x
    mean_ = jnp.mean(wide, axes, keepdims=True)
    scale = lax.rsqrt(jnp.mean(jnp.square(wide - mean_), axes, keepdims=True) + epsilon)
    made = (wide - mean_) * scale
    made = made if weight is None else made * weight
    return made if bias is None else made + bias, mean_, scale


@row("native_group_norm.default")
def group_norm(x, weight, bias, batch, channels, area, groups, epsilon):
    wide = (x.astype(jnp.float32) if x.dtype.itemsize < 4 else x).reshape(batch, groups, channels // groups * area)
    mean_ = jnp.mean(wide, -1, keepdims=True)
    scale = lax.rsqrt(jnp.mean(jnp.square(wide - mean_), -1, keepdims=True) + epsilon)
    made = ((wide - mean_) * scale).reshape(x.shape)
    made = made if weight is None else made * _by_channel(weight, x.ndim)
    return made if bias is None else made + _by_channel(bias, x.ndim), mean_[..., 0], scale[..., 0]


@row("_fused_rms_norm.default")
def rms_norm(x, shape, weight=None, epsilon=None):
    axes = tuple(range(x.ndim - len(shape), x.ndim))
    wide = x.astype(jnp.float32) if x.dtype.itemsize < 4 else x
    scale = lax.rsqrt(jnp.mean(jnp.square(wide), axes, keepdims=True) + (jnp.finfo(x.dtype).eps if epsilon is None else epsilon))
    return wide * scale if weight is None else wide * scale * weight, scale


def _by_channel(vector, rank):
    return vector.reshape([1, -1] + [1] * (rank - 2))


@row("_native_batch_norm_legit_no_training.default")
def batch_norm(x, weight, bias, mean_, variance, momentum, epsilon):
    scale = lax.rsqrt(variance + epsilon)
    scale = scale if weight is None else scale * weight
    shift = -mean_ * scale if bias is None else bias - mean_ * scale
    nothing = jnp.zeros((0,), x.dtype)
    return x * _by_channel(scale, x.ndim) + _by_channel(shift, x.ndim), nothing, nothing


@row("_native_batch_norm_legit.no_stats")
def batch_norm_of_batch(x, weight, bias, training, momentum, epsilon):
    axes = tuple(i for i in range(x.ndim) if i != 1)
    mean_, variance = jnp.mean(x, axes), jnp.var(x, axes)
    return batch_norm(x, weight, bias, mean_, variance, momentum, epsilon)[0], mean_, lax.rsqrt(variance + epsilon)


@row("_native_batch_norm_legit_functional.default")
def batch_norm_training(x, weight, bias, running_mean, running_variance, training, momentum, epsilon):
    if not training:
        return (*batch_norm(x, weight, bias, running_mean, running_variance, momentum, epsilon), running_mean, running_variance)
    count = x.size // x.shape[1]
    made, mean_, scale = batch_norm_of_batch(x, weight, bias, training, momentum, epsilon)
    variance = jnp.var(x, tuple(i for i in range(x.ndim) if i != 1))
    return (made, mean_, scale, running_mean * (1 - momentum) + momentum * mean_,
            running_variance * (1 - momentum) + momentum * variance * count / (count - 1))


# Order ---------------------------------------------------------------------------------------------------------------


@along("sort.default")
def sort(x, dim=-1, descending=False):
    places = jnp.argsort(x, dim, stable=True, descending=descending)
    return jnp.take_along_axis(x, places, dim), places


@along("sort.stable")
def sort_stable(x, stable=None, dim=-1, descending=False):
    return sort(x, dim, descending)


@along("topk.default")
def topk(x, count, dimension=-1, largest=True, sorted=True):  # noqa: A002 - the name of the schema
    places = _places_of_largest(x, count, at(dimension, x.ndim)) if largest and x.dtype != bool else lax.slice_in_dim(
        jnp.argsort(x, dimension, stable=True, descending=largest), 0, count, 1, at(dimension, x.ndim))
    return jnp.take_along_axis(x, places, dimension), places


def _places_of_largest(x, count, dimension):
    """Of which the rest of a row need not be in order. What is no number is the largest, whatever its sign."""
    if jnp.issubdtype(x.dtype, jnp.floating):
        x = jnp.where(jnp.isnan(x), jnp.asarray(jnp.nan, x.dtype), x)
    places = lax.top_k(jnp.moveaxis(x, dimension, -1), count)[1]
    return jnp.moveaxis(places, -1, dimension).astype(jnp.arange(1).dtype)


@along("kthvalue.default")
def kthvalue(x, k, dimension=-1, keepdim=False):
    values, places = sort(x, dimension, False)
    parts = [lax.slice_in_dim(each, k - 1, k, 1, at(dimension, x.ndim)) for each in (values, places)]
    return tuple(each if keepdim else jnp.squeeze(each, dimension) for each in parts)


@along("median.dim")
def median(x, dimension=-1, keepdim=False):
    """NaN where there is one, and the first one's place."""
    value, place = kthvalue(x, (x.shape[dimension] + 1) // 2, dimension, keepdim)
    if not jnp.issubdtype(x.dtype, jnp.floating):
        return value, place
    is_nan = jnp.isnan(x)
    has_nan = jnp.any(is_nan, dimension, keepdims=keepdim)
    return jnp.where(has_nan, jnp.asarray(jnp.nan, x.dtype), value), jnp.where(has_nan, jnp.argmax(is_nan, dimension, keepdims=keepdim), place)


@along("nanmedian.dim")
def nanmedian(x, dimension=-1, keepdim=False):
    """Numbers that are none stand last, and do not count."""
    values, places = sort(x, dimension, False)
    middle = jnp.maximum(jnp.sum(~jnp.isnan(x), dimension, keepdims=True) - 1, 0) // 2
    parts = [jnp.take_along_axis(each, middle, dimension) for each in (values, places)]
    return tuple(each if keepdim else jnp.squeeze(each, dimension) for each in parts)


@along("mode.default")
def mode(x, dimension=-1, keepdim=False):
    """The smallest of those that are there most often, and the last place of it."""
    dimension = at(dimension, x.ndim)
    values, places = sort(x, dimension)
    number = lax.broadcasted_iota(jnp.int64, x.shape, dimension)
    before = jnp.concatenate([lax.slice_in_dim(values, 0, 1, axis=dimension), lax.slice_in_dim(values, 0, -1, axis=dimension)], dimension)
    begins = lax.cummax(jnp.where(values == before, 0, number), dimension)  # What is no number is never the same.
    last = jnp.argmax(number - begins, dimension, keepdims=True)
    made = [jnp.take_along_axis(each, last, dimension) for each in (values, places)]
    return tuple(each if keepdim else jnp.squeeze(each, dimension) for each in made)


@row("median.default")
def median_all(x):
    return median(x.reshape(-1), 0)[0]


@row("nanmedian.default")
def nanmedian_all(x):
    return nanmedian(x.reshape(-1), 0)[0]


@row("histc.default")
def histc(x, count=100, low=0, high=0):
    """How many elements stand in each of `count` parts of the range, which is the tensor's own where none is told."""
    flat = x.reshape(-1)
    if not flat.size:
        return jnp.zeros(count, x.dtype)
    low, high = (jnp.min(flat), jnp.max(flat)) if low == high else (jnp.asarray(low, x.dtype), jnp.asarray(high, x.dtype))
    low, high = jnp.where(low == high, low - 1, low), jnp.where(low == high, high + 1, high)
    part = jnp.floor((flat - low) * count / (high - low))
    part = jnp.where((flat >= low) & (flat <= high), jnp.minimum(part, count - 1), count).astype(jnp.int32)
    return jnp.zeros(count, jnp.int32).at[part].add(1, mode="drop")
