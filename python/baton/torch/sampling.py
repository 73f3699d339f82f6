"""Rows of the table: tensors that are read between their elements, at places that a grid tells (`grid_sample`), and the gradients of that.

For each corner around a place, one number says where it stands and one how much of it counts, for all channels. PyTorch's own
decomposition tells each element apart: fifteen times slower.
"""
import itertools
import math

import jax
import jax.numpy as jnp
from jax import lax

from .graph import row

_LINEAR, _NEAREST, _CUBIC = range(3)
_ZEROS, _BORDER, _REFLECTION = range(3)


def _cut(place, size):
    """Into the tensor; from outside no gradient comes."""
    is_inside = (place > 0) & (place < size - 1)
    return jnp.where(is_inside, place, lax.stop_gradient(jnp.clip(place, 0, size - 1)))


def _mirrored(place, low, high):
    """`low` and `high` are twice the mirrors' places."""
    if low == high:
        return jnp.zeros_like(place)
    span = (high - low) / 2
    place = jnp.abs(place - low / 2)
    turns = lax.stop_gradient(jnp.floor(place / span))
    rest = place - turns * span
    return jnp.where(turns % 2 == 0, rest, span - rest) + low / 2


def _padded(place, size, padding, align):
    if padding == _BORDER:
        return _cut(place, size)
    if padding == _REFLECTION:
        return _cut(_mirrored(place, 0, 2 * (size - 1)) if align else _mirrored(place, -1, 2 * size - 1), size)
    return place


def _cubic(part, a=-0.75):
    """How much the elements at -1, 0, 1 and 2 count."""
    def near(x):
        return ((a + 2) * x - (a + 3)) * x * x + 1

    def far(x):
        return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a

    return far(part + 1), near(part), near(1 - part), far(2 - part)


def _taps(place, size, kind, padding, align):
    """[(which element along a dimension, how much it counts)]."""
    place = (place + 1) / 2 * (size - 1) if align else ((place + 1) * size - 1) / 2
    if kind == _CUBIC:
        low = lax.stop_gradient(jnp.floor(place))
        return [(_padded(low + i - 1, size, padding, align), weight) for i, weight in enumerate(_cubic(place - low))]
    place = _padded(place, size, padding, align)
    if kind == _NEAREST:
        return [(lax.stop_gradient(jnp.round(place)), jnp.ones_like(place))]
    low = lax.stop_gradient(jnp.floor(place))
    return [(low, low + 1 - place), (low + 1, place - low)]


def _sampled(x, grid, kind, padding, align):
    """x: batch, channels, sizes; grid: batch, new sizes, places from the last dimension to the first."""
    sizes, rank = x.shape[2:], len(x.shape) - 2
    rows = x.reshape(*x.shape[:2], math.prod(sizes))
    taps = [_taps(grid[..., rank - 1 - i], sizes[i], kind, padding, align) for i in range(rank)]

    def read(rows, places):
        return rows[:, places.reshape(-1)].reshape(rows.shape[0], *places.shape)

    total = 0
    for corner in itertools.product(*taps):
        number, weight, is_inside = 0, 1, True
        for (place, part), size in zip(corner, sizes):
            is_inside = is_inside & (place >= 0) & (place <= size - 1)
            number = number * size + jnp.clip(jnp.nan_to_num(place), 0, size - 1).astype(jnp.int32)
            weight = weight * part
        weight = jnp.where(is_inside, weight, 0)
        total = total + jax.vmap(read)(rows, number) * weight[:, None]
    return total


@row("grid_sampler_2d.default", "grid_sampler_3d.default")
def grid_sampler(x, grid, kind, padding, align_corners):
    wide = [each.astype(jnp.float32) if each.dtype.itemsize < 4 else each for each in (x, grid)]
    return _sampled(*wide, kind, padding, align_corners)


@row("grid_sampler_2d_backward.default", "grid_sampler_3d_backward.default")
def grid_sampler_backward(gradient, x, grid, kind, padding, align_corners, wanted):
    made, pull = jax.vjp(lambda x, grid: grid_sampler(x, grid, kind, padding, align_corners), x, grid)
    return [each if is_wanted else None for each, is_wanted in zip(pull(gradient.astype(made.dtype)), wanted)]
