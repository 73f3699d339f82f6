"""Rows of the table: pooling over windows, and sizes that grow and shrink."""
import math

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from .graph import NotLowered, row


def _each(values, rank):
    values = [values] if isinstance(values, int) else list(values)
    return values * rank if len(values) == 1 else values


def _extent(size, kernel, stride, padding, dilation, ceil_mode):
    reach = dilation * (kernel - 1) + 1
    count = (size + 2 * padding - reach + (stride - 1 if ceil_mode else 0)) // stride + 1
    return count - 1 if ceil_mode and (count - 1) * stride >= size + padding else count


class _Windows:
    """The windows of the last dimensions: their number, and how much stands around the tensor."""

    def __init__(self, x, rank, kernel, stride, padding, dilation=1, ceil_mode=False):
        self.rank = rank
        self.kernel, self.padding, self.dilation = (_each(each, rank) for each in (kernel, padding, dilation))
        self.stride = _each(stride, rank) if not isinstance(stride, (list, tuple)) or len(stride) else self.kernel
        sizes = x.shape[-rank:]
        self.counts = [_extent(*each, ceil_mode) for each in zip(sizes, self.kernel, self.stride, self.padding, self.dilation)]
        ends = [(n - 1) * s + d * (k - 1) + 1 - size - p
                for n, s, d, k, size, p in zip(self.counts, self.stride, self.dilation, self.kernel, sizes, self.padding)]
        self.widths = [(p, max(end, 0)) for p, end in zip(self.padding, ends)]
        self.outer = x.ndim - rank

    def reduce(self, x, first, combine, widths=None):
        ones = (1,) * self.outer
        return lax.reduce_window(x, first, combine, ones + tuple(self.kernel), ones + tuple(self.stride),
                                 ((0, 0),) * self.outer + tuple(widths or self.widths), window_dilation=ones + tuple(self.dilation))


def _lowest(dtype):
    return -jnp.inf if jnp.issubdtype(dtype, jnp.floating) else jnp.iinfo(dtype).min


def _max_pool(rank):
    def pool(x, kernel, stride=(), padding=0, dilation=1, ceil_mode=False):
        windows = _Windows(x, rank, kernel, stride, padding, dilation, ceil_mode)
        return windows.reduce(x, jnp.asarray(_lowest(x.dtype), x.dtype), lax.max)

    return pool


def _places_of_max(x, windows):
    """Of each window the place of its largest number in the tensor, the first where several are."""
    sizes = x.shape[-windows.rank:]
    best = where = None
    padded = lax.pad(x, jnp.asarray(_lowest(x.dtype), x.dtype), [(0, 0, 0)] * windows.outer + [(*each, 0) for each in windows.widths])
    for offset in np.ndindex(*windows.kernel):
        starts = [o * d for o, d in zip(offset, windows.dilation)]
        limits = [b + (n - 1) * s + 1 for b, n, s in zip(starts, windows.counts, windows.stride)]
        part = lax.slice(padded, [0] * windows.outer + starts, list(x.shape[:windows.outer]) + limits, [1] * windows.outer + windows.stride)
        place = jnp.zeros(windows.counts, jnp.int64)
        for i, (begin, size) in enumerate(zip(starts, sizes)):
            line = begin - windows.padding[i] + windows.stride[i] * jnp.arange(windows.counts[i], dtype=jnp.int64)
            place = place * size + line.reshape([-1 if i == j else 1 for j in range(windows.rank)])
        place = jnp.broadcast_to(place, part.shape)
        is_better = part > best if best is not None else None
        best, where = (part, place) if best is None else (jnp.where(is_better, part, best), jnp.where(is_better, place, where))
    return where


def _max_pool_with_indices(rank):
    def pool(x, kernel, stride=(), padding=0, dilation=1, ceil_mode=False):
        windows = _Windows(x, rank, kernel, stride, padding, dilation, ceil_mode)
        return _max_pool(rank)(x, kernel, stride, padding, dilation, ceil_mode), _places_of_max(x, windows)

    return pool


def _avg_pool(rank):
    def pool(x, kernel, stride=(), padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None):
        windows = _Windows(x, rank, kernel, stride, padding, 1, ceil_mode)
        total = windows.reduce(x, jnp.zeros((), x.dtype), lax.add)
        if divisor_override is not None:
            return total / divisor_override
        ones = jnp.ones(x.shape[-rank:], x.dtype)
        if count_include_pad:  # What stands around counts as far as it was asked for, not what rounding up adds.
            ones = jnp.pad(ones, [(p, p) for p in windows.padding], constant_values=1)
            return total / _counts(ones, windows, [(0, max(high - p, 0)) for (_, high), p in zip(windows.widths, windows.padding)])
        return total / _counts(ones, windows, windows.widths)

    return pool


def _counts(ones, windows, widths):
    return lax.reduce_window(ones, jnp.zeros((), ones.dtype), lax.add, tuple(windows.kernel), tuple(windows.stride), tuple(widths))


for dimensions in (1, 2, 3):
    row(f"max_pool{dimensions}d.default")(_max_pool(dimensions))
    row(f"max_pool{dimensions}d_with_indices.default")(_max_pool_with_indices(dimensions))
    row(f"avg_pool{dimensions}d.default")(_avg_pool(dimensions))


@row("max_pool2d_with_indices_backward.default")
def max_pool_backward(gradient, x, kernel, stride, padding, dilation, ceil_mode, indices):
    """Each gradient goes to where its window's largest number stands."""
    outer, inner = math.prod(x.shape[:-2]), x.shape[-2] * x.shape[-1]
    places = indices.reshape(outer, -1) + jnp.arange(outer)[:, None] * inner
    return jnp.zeros(outer * inner, x.dtype).at[places.reshape(-1)].add(gradient.reshape(-1)).reshape(x.shape)


@row("avg_pool2d_backward.default")
def avg_pool_backward(gradient, x, *arguments):
    return jax.vjp(lambda x: _avg_pool(2)(x, *arguments), x)[1](gradient)[0]


def _adaptive_matrix(size, count):
    """Means of parts that differ in length, as a product."""
    made = np.zeros((count, size))
    for i in range(count):
        begin, end = i * size // count, -(-(i + 1) * size // count)
        made[i, begin:end] = 1 / (end - begin)
    return made


def _along(x, matrices):
    """Each of the last dimensions times its matrix (of new size, old size)."""
    wide = x.astype(jnp.float32) if x.dtype.itemsize < 4 else x
    for i, matrix in enumerate(reversed(matrices)):
        axis = x.ndim - 1 - i
        wide = jnp.moveaxis(jnp.tensordot(wide, jnp.asarray(matrix, wide.dtype), ((axis,), (1,))), -1, axis)
    return wide


@row("_adaptive_avg_pool2d.default", "_adaptive_avg_pool3d.default", "adaptive_avg_pool1d.default", "adaptive_avg_pool2d.default")
def adaptive_avg_pool(x, counts):
    sizes = x.shape[-len(counts):]
    if all(count == 1 for count in counts):
        return jnp.mean(x, tuple(range(x.ndim - len(counts), x.ndim)), keepdims=True)
    return _along(x, [_adaptive_matrix(size, count) for size, count in zip(sizes, counts)])


@row("_adaptive_avg_pool2d_backward.default")
def adaptive_avg_pool_backward(gradient, x):
    return jax.vjp(lambda x: adaptive_avg_pool(x, gradient.shape[-2:]), x)[1](gradient)[0]


@row("adaptive_max_pool2d.default")
def adaptive_max_pool(x, counts):
    if any(size % count for size, count in zip(x.shape[-2:], counts)):
        raise NotLowered("aten.adaptive_max_pool2d of parts that differ in length is not lowered")
    kernel = [size // count for size, count in zip(x.shape[-2:], counts)]
    return _max_pool_with_indices(2)(x, kernel, kernel)


# Sizes that grow and shrink ------------------------------------------------------------------------------------------


def _linear_matrix(size, count, align_corners, scale):
    places = np.arange(count, dtype=np.float64)
    if align_corners:
        places = places * ((size - 1) / (count - 1) if count > 1 else 0)
    else:
        places = np.maximum((places + 0.5) * (1 / scale if scale else size / count) - 0.5, 0)
    low = np.minimum(np.floor(places).astype(int), size - 1)
    high, part = np.minimum(low + 1, size - 1), places - low
    made = np.zeros((count, size))
    np.add.at(made, (np.arange(count), low), 1 - part)
    np.add.at(made, (np.arange(count), high), part)
    return made


def _counts_of(x, rank, size, scales):
    if size is not None:
        return [int(each) for each in size]
    return [int(math.floor(each * scale)) for each, scale in zip(x.shape[-rank:], scales)]


def _upsample_linear(rank):
    def upsample(x, size, align_corners, *scales):
        scales = list(scales[0]) if scales and isinstance(scales[0], (list, tuple)) else list(scales)
        scales = (scales + [None] * rank)[:rank]
        counts = _counts_of(x, rank, size, scales)
        return _along(x, [_linear_matrix(*each) for each in zip(x.shape[-rank:], counts, [align_corners] * rank, scales)])

    return upsample


def _upsample_nearest(rank, centre):
    def upsample(x, size, *scales):
        scales = list(scales[0]) if scales and isinstance(scales[0], (list, tuple)) else list(scales)
        scales = (scales + [None] * rank)[:rank]
        for i, (old, count, scale) in enumerate(zip(x.shape[-rank:], _counts_of(x, rank, size, scales), scales)):
            step = np.float32(1 / scale if scale else old / count)
            places = np.minimum(np.floor((np.arange(count, dtype=np.float32) + np.float32(0.5 if centre else 0)) * step).astype(int), old - 1)
            x = jnp.take(x, places, x.ndim - rank + i)
        return x

    return upsample


for dimensions, name in ((1, "linear"), (2, "bilinear"), (3, "trilinear")):
    row(f"upsample_{name}{dimensions}d.default", f"upsample_{name}{dimensions}d.vec")(_upsample_linear(dimensions))
    row(f"upsample_nearest{dimensions}d.default", f"upsample_nearest{dimensions}d.vec")(_upsample_nearest(dimensions, False))
    row(f"_upsample_nearest_exact{dimensions}d.default", f"_upsample_nearest_exact{dimensions}d.vec")(_upsample_nearest(dimensions, True))


def _reflected(places, size, is_reflection):
    if is_reflection:
        places = np.abs(places)
        return np.where(places >= size, 2 * (size - 1) - places, places)
    return np.clip(places, 0, size - 1)


def _pad(rank, is_reflection):
    def pad(x, widths):
        for i in range(rank):
            low, high = widths[2 * i], widths[2 * i + 1]
            size = x.shape[-1 - i]
            x = jnp.take(x, _reflected(np.arange(-low, size + high), size, is_reflection), x.ndim - 1 - i)
        return x

    return pad


for dimensions in (1, 2, 3):
    row(f"reflection_pad{dimensions}d.default")(_pad(dimensions, True))
    row(f"replication_pad{dimensions}d.default")(_pad(dimensions, False))
