"""Rows of the table: shapes, parts, and what is put together of parts."""
import functools
import math

import jax.numpy as jnp
import torch
from jax import lax

from .graph import NotLowered, row
from .types import jax_type


def at(dimension, rank):
    return dimension + rank if dimension < 0 else dimension


def along(*names):
    """The rows of these overloads, whose function takes a tensor and a dimension of it: a number without dimensions is taken as a row of
    one, which is how PyTorch takes it."""
    def write(function):
        @functools.wraps(function)
        def of_any_rank(x, *arguments, **keywords):
            if x.ndim:
                return function(x, *arguments, **keywords)
            made = function(x.reshape(1), *arguments, **keywords)
            return tuple(each.reshape(()) for each in made) if isinstance(made, tuple) else made.reshape(())

        row(*names)(of_any_rank)
        return function

    return write


@row("sym_size.int")
def sym_size(x, dimension):
    return x.shape[dimension]


@row("sym_numel.default")
def sym_numel(x):
    return math.prod(x.shape)


@row("view.default", "_unsafe_view.default", "reshape.default", "view_copy.default", "_reshape_alias.default")
def view(x, size, *_):
    return x.reshape(tuple(size))


@row("view.dtype", "view_copy.dtype")
def view_as_type(x, dtype):
    """The same bits: of smaller elements the last dimension has more, of larger ones fewer. Complex numbers are pairs."""
    to = jax_type(dtype)
    if jnp.iscomplexobj(x):
        x = jnp.stack([jnp.real(x), jnp.imag(x)], -1)
        x = x.reshape(*x.shape[:-2], 2 * x.shape[-2])
    if jnp.issubdtype(to, jnp.complexfloating):
        pairs = view_as_type(x, dtype.to_real())
        pairs = pairs.reshape(*pairs.shape[:-1], pairs.shape[-1] // 2, 2)
        return lax.complex(pairs[..., 0], pairs[..., 1])
    x = x.astype(jnp.uint8) if x.dtype == jnp.bool_ else x
    if to == jnp.bool_:
        return view_as_type(x, torch.uint8) != 0
    if x.dtype.itemsize < to.itemsize:
        many = to.itemsize // x.dtype.itemsize
        x = x.reshape(*x.shape[:-1], x.shape[-1] // many, many)
    made = lax.bitcast_convert_type(x, to)
    return made.reshape(*made.shape[:-2], made.shape[-2] * made.shape[-1]) if x.dtype.itemsize > to.itemsize else made


@row("permute.default", "permute_copy.default")
def permute(x, order):
    return jnp.transpose(x, [at(each, x.ndim) for each in order])


@row("transpose.int")
def transpose(x, a, b):
    return jnp.swapaxes(x, a, b)


@row("t.default")
def t(x):
    return x.T


@row("expand.default", "expand_copy.default")
def expand(x, size, implicit=False):
    added = len(size) - x.ndim
    size = [x.shape[i - added] if isinstance(each, int) and each == -1 else each for i, each in enumerate(size)]
    return jnp.broadcast_to(x, tuple(size))


@row("squeeze.dim", "squeeze.dims", "squeeze_copy.dims", "squeeze.default")
def squeeze(x, dimensions=None):
    dimensions = range(x.ndim) if dimensions is None else [dimensions] if isinstance(dimensions, int) else dimensions
    gone = {at(each, x.ndim) for each in dimensions if x.ndim and _is_one(x.shape[each])}
    return x.reshape([size for i, size in enumerate(x.shape) if i not in gone])


def _is_one(size):
    return isinstance(size, int) and size == 1


@row("unsqueeze.default")
def unsqueeze(x, dimension):
    return jnp.expand_dims(x, dimension)


@row("cat.default")
def cat(parts, dimension=0):
    parts = [each for each in parts if each.shape != (0,)] or parts[:1]
    return jnp.concatenate(parts, dimension)


@row("stack.default")
def stack(parts, dimension=0):
    return jnp.stack(parts, dimension)


@row("repeat.default")
def repeat(x, times):
    return jnp.tile(x.reshape([1] * (len(times) - x.ndim) + list(x.shape)), times)


@row("repeat_interleave.self_int")
def repeat_interleave(x, times, dimension=None, output_size=None):
    return jnp.repeat(x, times, dimension)


@row("flip.default")
def flip(x, dimensions):
    return jnp.flip(x, dimensions)


@row("roll.default")
def roll(x, shifts, dimensions=()):
    return jnp.roll(x, tuple(shifts), tuple(dimensions) or None) if dimensions else jnp.roll(x, shifts[0])


@row("tril.default")
def tril(x, diagonal=0):
    return jnp.tril(x, diagonal)


@row("triu.default")
def triu(x, diagonal=0):
    return jnp.triu(x, diagonal)


@row("diagonal.default", "diagonal_copy.default")
def diagonal(x, offset=0, first=0, second=1):
    return jnp.diagonal(x, offset, first, second)


@row("diagonal_scatter.default")
def diagonal_scatter(x, source, offset=0, first=0, second=1):
    moved = jnp.moveaxis(x, (first, second), (-2, -1))
    count = source.shape[-1]
    rows, columns = jnp.arange(count) + max(-offset, 0), jnp.arange(count) + max(offset, 0)
    return jnp.moveaxis(moved.at[..., rows, columns].set(source.astype(x.dtype)), (-2, -1), (first, second))


@row("constant_pad_nd.default")
def constant_pad_nd(x, pad, value=0):
    pairs = [(pad[i], pad[i + 1]) for i in range(0, len(pad), 2)]
    widths = [(0, 0, 0)] * (x.ndim - len(pairs)) + [(*pair, 0) for pair in reversed(pairs)]
    return lax.pad(x, jnp.asarray(value).astype(x.dtype), widths)


# Parts ---------------------------------------------------------------------------------------------------------------


def _within(place, size):
    """A begin or end that may be negative or too large."""
    if isinstance(place, int) and isinstance(size, int):
        return min(max(place + size if place < 0 else place, 0), size)
    if isinstance(place, int) and place >= 2**62:
        return size
    if isinstance(place, int) and place < 0:
        return size + place
    return place


@row("slice.Tensor", "slice_copy.Tensor")
def slice_(x, dimension=0, start=None, end=None, step=1):
    size = x.shape[dimension]
    start, end = _within(0 if start is None else start, size), _within(size if end is None else end, size)
    if all(isinstance(each, int) for each in (start, end)):
        end = max(start, end)
    return lax.slice_in_dim(x, start, end, step, at(dimension, x.ndim))


@row("select.int", "select_copy.int")
def select(x, dimension, index):
    index = index + x.shape[dimension] if isinstance(index, int) and index < 0 else index
    return lax.index_in_dim(x, index, at(dimension, x.ndim), keepdims=False)


@row("split_with_sizes.default", "split_with_sizes_copy.default")
def split_with_sizes(x, sizes, dimension=0):
    parts, begin = [], 0
    for size in sizes:
        parts.append(lax.slice_in_dim(x, begin, begin + size, 1, at(dimension, x.ndim)))
        begin = begin + size
    return parts


@row("split.Tensor")
def split(x, size, dimension=0):
    total = x.shape[dimension]
    return split_with_sizes(x, [min(size, total - begin) for begin in range(0, total, size)], dimension)


@row("unbind.int")
def unbind(x, dimension=0):
    return [select(x, dimension, i) for i in range(x.shape[dimension])]


@row("select_scatter.default")
def select_scatter(x, source, dimension, index):
    places = [slice(None)] * x.ndim
    places[dimension] = index
    return x.at[tuple(places)].set(source.astype(x.dtype))


@row("slice_scatter.default")
def slice_scatter(x, source, dimension=0, start=None, end=None, step=1):
    size = x.shape[dimension]
    places = [slice(None)] * x.ndim
    places[dimension] = slice(_within(0 if start is None else start, size), _within(size if end is None else end, size), step)
    return x.at[tuple(places)].set(source.astype(x.dtype))


@row("as_strided.default", "as_strided_copy.default")
def as_strided(x, size, stride, offset=0):
    """Only where it says what a reshape would: rows of the whole tensor."""
    dense = [math.prod(size[i + 1:]) for i in range(len(size))]
    if list(stride) == dense and not offset and math.prod(size) == x.size:
        return x.reshape(tuple(size))
    return x.reshape(-1)[_strided_places(x, size, stride, offset)]


def _strided_places(x, size, stride, offset):
    if not isinstance(x.size, int):
        raise NotLowered("aten.as_strided of an unknown size is not lowered")
    places = jnp.full((1,) * len(size), offset or 0)
    for i, (count, step) in enumerate(zip(size, stride)):
        places = places + (jnp.arange(count) * step).reshape([-1] + [1] * (len(size) - i - 1))
    return places


@row("as_strided_scatter.default")
def as_strided_scatter(x, source, size, stride, offset=0):
    return x.reshape(-1).at[_strided_places(x, size, stride, offset)].set(source.astype(x.dtype)).reshape(x.shape)


@row("pixel_shuffle.default")
def pixel_shuffle(x, factor):
    *batch, channels, height, width = x.shape
    x = x.reshape(*batch, channels // factor**2, factor, factor, height, width)
    rank = len(batch)
    order = [*range(rank), rank, rank + 3, rank + 1, rank + 4, rank + 2]
    return jnp.transpose(x, order).reshape(*batch, channels // factor**2, height * factor, width * factor)
