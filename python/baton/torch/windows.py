"""Rows of the table: pooling over windows, and sizes that grow and shrink."""
import functools
import math

import jax.numpy as jnp
import numpy as np
from jax import lax

from .graph import row


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
        # Of an unknown size nobody knows what the last window leaves; it leaves it, too, where as much stands behind as before.
        self.widths = [(p, max(end, 0) if ceil_mode or isinstance(end, int) else p) for p, end in zip(self.padding, ends)]
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
        return windows.reduce(x, np.asarray(_lowest(x.dtype), x.dtype), lax.max)

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
        is_better = (part > best) | (part != part) if best is not None else None  # What is no number wins, the last of them.
        best, where = (part, place) if best is None else (jnp.where(is_better, part, best), jnp.where(is_better, place, where))
    return where


def _max_pool_with_indices(rank):
    def pool(x, kernel, stride=(), padding=0, dilation=1, ceil_mode=False):
        windows = _Windows(x, rank, kernel, stride, padding, dilation, ceil_mode)
        return _max_pool(rank)(x, kernel, stride, padding, dilation, ceil_mode), _places_of_max(x, windows)

    return pool


def avg_pool(rank):
    def pool(x, kernel, stride=(), padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None):
        windows = _Windows(x, rank, kernel, stride, padding, 1, ceil_mode)
        total = windows.reduce(x, np.zeros((), x.dtype), lax.add)  # A number of NumPy's: JAX knows it, and the sum's gradient.
        if divisor_override is not None:
            return total / divisor_override
        ones = jnp.ones(x.shape[-rank:], x.dtype)
        if count_include_pad:  # What stands around counts as far as it was asked for, not what rounding up adds.
            ones = jnp.pad(ones, [(p, p) for p in windows.padding], constant_values=1)
            return total / _counts(ones, windows, [(0, max(high - p, 0)) for (_, high), p in zip(windows.widths, windows.padding)])
        return total / _counts(ones, windows, windows.widths)

    return pool


def _counts(ones, windows, widths):
    return lax.reduce_window(ones, np.zeros((), ones.dtype), lax.add, tuple(windows.kernel), tuple(windows.stride), tuple(widths))


for dimensions in (1, 2, 3):
    row(f"max_pool{dimensions}d.default")(_max_pool(dimensions))
    row(f"max_pool{dimensions}d_with_indices.default")(_max_pool_with_indices(dimensions))
    row(f"avg_pool{dimensions}d.default")(avg_pool(dimensions))


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


@row("adaptive_max_pool2d.default", "adaptive_max_pool3d.default")
def adaptive_max_pool(x, counts):
    rank = len(counts)
    sizes = x.shape[-rank:]
    if not any(size % count for size, count in zip(sizes, counts)):
        kernel = [size // count for size, count in zip(sizes, counts)]
        return _max_pool_with_indices(rank)(x, kernel, kernel)
    parts = [_adaptive_parts(size, count) for size, count in zip(sizes, counts)]
    place = np.zeros((1,) * 2 * rank, np.int64)
    for i, (size, part) in enumerate(zip(sizes, parts)):  # Where parts are told apart first, then the elements of each.
        place = place * size + part.reshape([part.shape[j // rank] if j % rank == i else 1 for j in range(2 * rank)])
    place = place.reshape(*place.shape[:rank], -1)
    taken = x.reshape(*x.shape[:-rank], math.prod(sizes))[..., place]
    best = jnp.argmax(taken, -1)
    return jnp.max(taken, -1), jnp.take_along_axis(jnp.broadcast_to(jnp.asarray(place), taken.shape), best[..., None], -1)[..., 0]


def _adaptive_parts(size, count):
    """(part, element of it) → place; parts that are shorter than the longest say their last place again, which changes no maximum."""
    begins = np.arange(count) * size // count
    ends = -(-(np.arange(count) + 1) * size // count)
    return np.minimum(begins[:, None] + np.arange((ends - begins).max()), ends[:, None] - 1)


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


def _smooth_matrix(size, count, align_corners, scale, reach, weight):
    """With antialias: each new element is a mean of all old ones below a window, which grows as the tensor shrinks."""
    step = ((size - 1) / (count - 1) if count > 1 else 0) if align_corners else 1 / scale if scale else size / count
    wide = max(step, 1)
    made = np.zeros((count, size))
    for i in range(count):
        centre = step * (i + 0.5)
        begin, end = max(int(centre - reach * wide + 0.5), 0), min(int(centre + reach * wide + 0.5), size)
        weights = weight((np.arange(begin, end) - centre + 0.5) / wide)
        made[i, begin:end] = weights / weights.sum()
    return made


def _triangle(x):
    return np.maximum(1 - np.abs(x), 0)


def _cubic(x, a=-0.5):
    x = np.abs(x)
    return np.where(x < 1, ((a + 2) * x - (a + 3)) * x * x + 1, np.where(x < 2, (((x - 5) * x + 8) * x - 4) * a, 0))


def _cubic_matrix(size, count, align_corners, scale):
    places = np.arange(count, dtype=np.float64)
    if align_corners:
        places = places * ((size - 1) / (count - 1) if count > 1 else 0)
    else:
        places = (places + 0.5) * (1 / scale if scale else size / count) - 0.5
    low = np.floor(places).astype(int)
    made = np.zeros((count, size))
    for offset in (-1, 0, 1, 2):
        np.add.at(made, (np.arange(count), np.clip(low + offset, 0, size - 1)), _cubic(low + offset - places, -0.75))
    return made


def _upsample_by(matrix, rank):
    """`matrix` makes of (old size, new size, align_corners, scale) what a dimension is multiplied by."""
    def upsample(x, size, align_corners, *scales):
        scales, counts = _scales_and_counts(x, rank, size, scales)
        return _along(x, [matrix(*each) for each in zip(x.shape[-rank:], counts, [align_corners] * rank, scales)])

    return upsample


def _scales_and_counts(x, rank, size, scales):
    scales = list(scales[0]) if scales and isinstance(scales[0], (list, tuple)) else list(scales)
    scales = (scales + [None] * rank)[:rank]
    return scales, _counts_of(x, rank, size, scales)


def _counts_of(x, rank, size, scales):
    if size is not None:
        return [int(each) for each in size]
    return [int(math.floor(each * scale)) for each, scale in zip(x.shape[-rank:], scales)]


def _upsample_nearest(rank, centre):
    def upsample(x, size, *scales):
        scales, counts = _scales_and_counts(x, rank, size, scales)
        for i, (old, count, scale) in enumerate(zip(x.shape[-rank:], counts, scales)):
            step = np.float32(1 / scale if scale else old / count)
            places = np.minimum(np.floor((np.arange(count, dtype=np.float32) + np.float32(0.5 if centre else 0)) * step).astype(int), old - 1)
            x = jnp.take(x, places, x.ndim - rank + i)
        return x

    return upsample


UPSAMPLED = {f"_upsample_{name}2d_aa": _upsample_by(functools.partial(_smooth_matrix, reach=reach, weight=weight), 2)
             for name, reach, weight in (("bilinear", 1, _triangle), ("bicubic", 2, _cubic))}
UPSAMPLED["upsample_bicubic2d"] = _upsample_by(_cubic_matrix, 2)
for dimensions, name in ((1, "linear"), (2, "bilinear"), (3, "trilinear")):
    UPSAMPLED[f"upsample_{name}{dimensions}d"] = _upsample_by(_linear_matrix, dimensions)
    UPSAMPLED[f"upsample_nearest{dimensions}d"] = _upsample_nearest(dimensions, False)
    UPSAMPLED[f"_upsample_nearest_exact{dimensions}d"] = _upsample_nearest(dimensions, True)
for name, function in UPSAMPLED.items():
    row(f"{name}.default", f"{name}.vec")(function)


def _reflected(places, size, is_reflection):
    if is_reflection:
        places = np.abs(places)
        return np.where(places >= size, 2 * (size - 1) - places, places)
    return np.clip(places, 0, size - 1)


def pad_by_number(rank, is_reflection):
    def pad(x, widths):
        for i in range(rank):
            low, high = widths[2 * i], widths[2 * i + 1]
            size = x.shape[-1 - i]
            x = jnp.take(x, _reflected(np.arange(-low, size + high), size, is_reflection), x.ndim - 1 - i)
        return x

    return pad


for dimensions in (1, 2, 3):
    row(f"reflection_pad{dimensions}d.default")(pad_by_number(dimensions, True))
    row(f"replication_pad{dimensions}d.default")(pad_by_number(dimensions, False))
