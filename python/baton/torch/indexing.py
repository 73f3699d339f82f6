"""Rows of the table: what is taken by number, and put there."""
import math

import jax
import jax.numpy as jnp
from jax import lax

from .graph import NotLowered, row
from .reductions import vector_norm
from .shapes import at


def _from_the_end(index, size):
    return index if index.dtype == jnp.bool_ or jnp.issubdtype(index.dtype, jnp.unsignedinteger) else jnp.where(index < 0, index + size, index)


def _places(x, indices):
    """A place of NumPy's; PyTorch puts the dimensions of several indices where the first stands if they follow each other, as NumPy
    does."""
    if any(each is not None and each.dtype == jnp.bool_ for each in indices):
        raise NotLowered("aten.index by a mask gives a size that only the data knows; torch.where keeps the shape")
    return tuple(slice(None) if each is None else _from_the_end(each, x.shape[i]) for i, each in enumerate(indices))


@row("index.Tensor", "_unsafe_index.Tensor")
def index(x, indices):
    return x[_places(x, indices)]


@row("index_put.default", "_unsafe_index_put.default", "_index_put_impl.default")
def index_put(x, indices, values, accumulate=False, unsafe=False):
    if sum(each is not None for each in indices) == 1 and indices[-1].dtype == jnp.bool_:
        return _put_by_mask(x, len(indices) - 1, indices[-1], values.astype(x.dtype), accumulate)
    places = x.at[_places(x, indices)]
    return places.add(values.astype(x.dtype)) if accumulate else places.set(values.astype(x.dtype))


def _put_by_mask(x, first, mask, values, accumulate):
    """The places from dimension `first` on where the mask is true take the values in order, or all the same one."""
    rest = x.ndim - first - mask.ndim
    whole = values.reshape((1,) * (1 + first + rest - values.ndim) + values.shape)  # What is before, one for each place, and what is behind.
    values = jnp.expand_dims(whole, tuple(range(first + 1, first + mask.ndim)))
    if whole.shape[first] != 1:
        order = jnp.cumsum(mask.reshape(-1), dtype=jnp.int64) - 1
        taken = jnp.take(whole, jnp.maximum(order, 0), first, mode="clip")
        values = taken.reshape(*whole.shape[:first], *mask.shape, *whole.shape[first + 1:])
    mask = mask.reshape((1,) * first + mask.shape + (1,) * rest)
    return jnp.where(mask, x + values if accumulate else values, x)


@row("nonzero_static.default")
def nonzero_static(x, size, fill_value=-1):
    x = jnp.atleast_1d(x)[None] if not x.ndim else x
    return jnp.stack(jnp.nonzero(x, size=size, fill_value=fill_value), -1).astype(jnp.int64)


@row("repeat_interleave.Tensor")
def repeat_interleave(repeats, output_size=None):
    if output_size is None:
        raise NotLowered("aten.repeat_interleave by a tensor gives a size that only the data knows; output_size= tells it")
    return jnp.repeat(jnp.arange(repeats.shape[0], dtype=repeats.dtype), repeats, total_repeat_length=output_size)


@row("embedding.default")
def embedding(weight, indices, padding_idx=-1, scale_grad_by_freq=False, sparse=False):
    return jnp.take(weight, indices, 0, mode="clip")


@row("embedding_dense_backward.default")
def embedding_backward(gradient, indices, count, padding_idx, scale_grad_by_freq):
    made = jnp.zeros((count, gradient.shape[-1]), gradient.dtype).at[indices].add(gradient)
    return made.at[padding_idx].set(0) if padding_idx >= 0 else made


@row("embedding_renorm.default")
def embedding_renorm(weight, indices, max_norm, order):
    """Rows that are asked for become no longer than a limit."""
    norms = vector_norm(weight, order, 1, True)
    is_asked = jnp.zeros((weight.shape[0], 1), jnp.bool_).at[indices.reshape(-1)].set(True)
    return jnp.where(is_asked & (norms > max_norm), weight * (max_norm / (norms + 1e-7)), weight)


@row("index_select.default")
def index_select(x, dimension, indices):
    return jnp.take(x, jnp.atleast_1d(indices), dimension, mode="clip") if x.ndim else x


@row("gather.default")
def gather(x, dimension, indices, sparse_grad=False):
    wide, rows = jnp.atleast_1d(x), jnp.atleast_1d(indices)
    return wide[_elements(wide, dimension, rows)].reshape(indices.shape)


def _elements(x, dimension, indices):
    dimension = at(dimension, x.ndim)
    return tuple(indices if i == dimension else lax.broadcasted_iota(indices.dtype, indices.shape, i) for i in range(x.ndim))


def _part(source, indices):
    return source[tuple(slice(0, size) for size in indices.shape)]


def _into(x, dimension, indices, put):
    """`put` of the places that are told element by element, and of what makes a source fit them; a number without dimensions is a row
    of one."""
    wide, indices = jnp.atleast_1d(x), jnp.atleast_1d(indices)
    made = put(wide.at[_elements(wide, dimension, indices)], lambda source: _part(jnp.atleast_1d(source), indices).astype(x.dtype))
    return made.reshape(x.shape)


@row("scatter.src")
def scatter(x, dimension, indices, source):
    return _into(x, dimension, indices, lambda places, fit: places.set(fit(source)))


@row("scatter.value")
def scatter_value(x, dimension, indices, value):
    return _into(x, dimension, indices, lambda places, _: places.set(jnp.asarray(value).astype(x.dtype)))


@row("scatter_add.default")
def scatter_add(x, dimension, indices, source):
    return _into(x, dimension, indices, lambda places, fit: places.add(fit(source)))


def _reduced(x, reduce, include_self, put):
    """`put` takes a tensor, what to do there with a source, and whether the source is ones."""
    kind = {"add": "sum", "multiply": "prod"}.get(reduce, reduce)
    first = {"sum": 0, "mean": 0, "prod": 1, "amax": _limit(x.dtype, False), "amin": _limit(x.dtype, True)}[kind]
    verb = {"sum": "add", "mean": "add", "prod": "multiply", "amax": "max", "amin": "min"}[kind]
    start = x if include_self else put(x, lambda places, _: places.set(jnp.asarray(first, x.dtype)))
    made = put(start, lambda places, source: getattr(places, verb)(source))
    if kind != "mean":
        return made
    counts = jnp.full(x.shape, int(include_self), jnp.int64)
    counts = jnp.maximum(put(counts, lambda places, source: places.add(jnp.ones(source.shape, counts.dtype))), 1).astype(x.dtype)
    return made / counts if jnp.issubdtype(x.dtype, jnp.inexact) else made // counts


def _limit(dtype, is_highest):
    if dtype == jnp.bool_:
        return is_highest
    if jnp.issubdtype(dtype, jnp.floating):
        return jnp.inf if is_highest else -jnp.inf
    return jnp.iinfo(dtype).max if is_highest else jnp.iinfo(dtype).min


@row("scatter_reduce.two", "scatter.reduce")
def scatter_reduce(x, dimension, indices, source, reduce, include_self=True):
    return _reduced(x, reduce, include_self, lambda into, use: _into(into, dimension, indices, lambda places, fit: use(places, fit(source))))


@row("scatter.value_reduce")
def scatter_value_reduce(x, dimension, indices, value, reduce):
    return scatter_reduce(x, dimension, indices, jnp.full(indices.shape, value, x.dtype), reduce)


@row("index_reduce.default")
def index_reduce(x, dimension, indices, source, reduce, include_self=True):
    return _reduced(x, reduce, include_self, lambda into, use: _rows(into, dimension, indices, source, use))


def _rows(x, dimension, indices, source, use):
    """`use` of the places along a dimension, and of the source that goes there."""
    wide, source = jnp.atleast_1d(x), jnp.broadcast_to(source, source.shape or (1,))
    dimension = at(dimension, wide.ndim)
    moved = use(jnp.moveaxis(wide, dimension, 0).at[jnp.atleast_1d(indices)], jnp.moveaxis(source, dimension, 0).astype(x.dtype))
    return jnp.moveaxis(moved, 0, dimension).reshape(x.shape)


@row("index_add.default")
def index_add(x, dimension, indices, source, alpha=1):
    return _rows(x, dimension, indices, source, lambda places, rows: places.add(rows * jnp.asarray(alpha, x.dtype)))


@row("index_copy.default")
def index_copy(x, dimension, indices, source):
    return _rows(x, dimension, indices, source, lambda places, rows: places.set(rows))


@row("index_fill.int_Scalar")
def index_fill(x, dimension, indices, value):
    return _rows(x, dimension, indices, x, lambda places, _: places.set(jnp.asarray(value).astype(x.dtype)))


@row("put.default")
def put(x, indices, source, accumulate=False):
    """Places are those of the tensor in one row."""
    places = x.reshape(-1).at[_from_the_end(indices, x.size).reshape(-1)]
    source = source.reshape(-1).astype(x.dtype)
    return (places.add(source) if accumulate else places.set(source)).reshape(x.shape)


@row("masked_scatter.default")
def masked_scatter(x, mask, source):
    """The places where the mask is true take the source's elements, in order."""
    x, mask = jnp.broadcast_arrays(x, mask)
    order = jnp.cumsum(mask.reshape(-1), dtype=jnp.int64) - 1
    taken = jnp.take(source.reshape(-1), jnp.maximum(order, 0), mode="clip").reshape(x.shape) if source.size else x
    return jnp.where(mask, taken.astype(x.dtype), x)


@row("searchsorted.Tensor", "searchsorted.Scalar")
def searchsorted(edges, values, out_int32=False, right=False, side=None, sorter=None):
    side = "right" if right or side == "right" else "left"
    edges = edges if sorter is None else jnp.take_along_axis(edges, sorter, -1)
    if edges.ndim == 1:
        return jnp.searchsorted(edges, values, side=side)
    rows = math.prod(edges.shape[:-1])
    edges, wanted = edges.reshape(rows, edges.shape[-1]), values.reshape(rows, values.shape[-1])
    found = jax.vmap(lambda edges, values: jnp.searchsorted(edges, values, side=side))(edges, wanted)
    return found.reshape(values.shape)


@row("bucketize.Tensor", "bucketize.Scalar")
def bucketize(values, edges, out_int32=False, right=False):
    return searchsorted(edges, values, right=right)


# Bags of embeddings --------------------------------------------------------------------------------------------------

_SUM, _MEAN, _MAX = range(3)


@row("_embedding_bag.default", "_embedding_bag_forward_only.default")
def embedding_bag(weight, indices, offsets, scale_grad_by_freq=False, mode=_SUM, sparse=False, per_sample_weights=None, include_last_offset=False,
                  padding_idx=-1):
    """(sums, means or maxima of bags; each index's bag; the bags' sizes; of maxima the rows where they were found). A bag begins at each
    offset."""
    bags = offsets.shape[0] - int(include_last_offset)
    begins = jnp.zeros(indices.shape[0], jnp.int64).at[offsets[:bags]].add(1, mode="drop")
    bag = jnp.cumsum(begins) - 1
    counted = indices != padding_idx
    sizes = jnp.zeros(bags, jnp.int64).at[bag].add(counted)
    rows = jnp.take(weight, indices, 0, mode="clip")
    rows = rows if per_sample_weights is None else rows * per_sample_weights[:, None]
    if mode == _MAX:
        made, found = _largest_of_bags(rows, indices, bag, counted, bags)
        return made, bag, sizes, found
    made = jnp.zeros((bags, weight.shape[1]), weight.dtype).at[bag].add(jnp.where(counted[:, None], rows, 0))
    made = made / jnp.maximum(sizes, 1)[:, None] if mode == _MEAN else made
    return made, bag, sizes, sizes


def _largest_of_bags(rows, indices, bag, counted, bags):
    rows = jnp.where(counted[:, None], rows, -jnp.inf)
    largest = jnp.full((bags, rows.shape[1]), -jnp.inf, rows.dtype).at[bag].max(rows)
    is_found = counted[:, None] & (rows == largest[bag])
    place = jnp.where(is_found, jnp.arange(rows.shape[0])[:, None], rows.shape[0])
    first = jnp.full(largest.shape, rows.shape[0], place.dtype).at[bag].min(place)
    found = jnp.where(first < rows.shape[0], jnp.take(indices, first, mode="clip"), -1)
    return jnp.where(found < 0, 0, largest), found


@row("_embedding_bag_backward.default")
def embedding_bag_backward_of_any(gradient, indices, offsets, bag, sizes, found, count, scale_grad_by_freq, mode, sparse, per_sample_weights, padding_idx=-1):
    return embedding_bag_backward(gradient, indices, bag, sizes, found, count, scale_grad_by_freq, mode, per_sample_weights, padding_idx)


@row("_embedding_bag_per_sample_weights_backward.default")
def embedding_bag_weights_backward(gradient, weight, indices, offsets, bag, mode, padding_idx=-1):
    made = jnp.sum(gradient[bag] * jnp.take(weight, indices, 0, mode="clip"), 1)
    return jnp.where(indices != padding_idx, made, 0)


@row("_embedding_bag_dense_backward.default")
def embedding_bag_backward(gradient, indices, bag, sizes, found, count, scale_grad_by_freq, mode, per_sample_weights, padding_idx=-1):
    made = jnp.zeros((count, gradient.shape[1]), gradient.dtype)
    if mode == _MAX:
        columns = lax.broadcasted_iota(found.dtype, found.shape, 1)
        return made.at[jnp.where(found < 0, count, found), columns].add(gradient, mode="drop")
    rows = (gradient / jnp.maximum(sizes, 1)[:, None] if mode == _MEAN else gradient)[bag]
    rows = rows if per_sample_weights is None else rows * per_sample_weights[:, None]
    if scale_grad_by_freq:
        rows = rows / jnp.zeros(count, rows.dtype).at[indices].add(1)[indices][:, None]
    return made.at[indices].add(jnp.where((indices != padding_idx)[:, None], rows, 0))
