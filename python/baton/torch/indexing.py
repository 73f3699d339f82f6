"""Rows of the table: what is taken by number, and put there."""
import jax.numpy as jnp
from jax import lax

from .graph import NotLowered, row
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
    if len(indices) == 1 and indices[0] is not None and indices[0].dtype == jnp.bool_ and not values.ndim and not accumulate:
        mask = indices[0].reshape(indices[0].shape + (1,) * (x.ndim - indices[0].ndim))
        return jnp.where(mask, values.astype(x.dtype), x)
    places = x.at[_places(x, indices)]
    return places.add(values.astype(x.dtype)) if accumulate else places.set(values.astype(x.dtype))


@row("embedding.default")
def embedding(weight, indices, padding_idx=-1, scale_grad_by_freq=False, sparse=False):
    return jnp.take(weight, indices, 0, mode="clip")


@row("embedding_dense_backward.default")
def embedding_backward(gradient, indices, count, padding_idx, scale_grad_by_freq):
    made = jnp.zeros((count, gradient.shape[-1]), gradient.dtype).at[indices].add(gradient)
    return made.at[padding_idx].set(0) if padding_idx >= 0 else made


@row("index_select.default")
def index_select(x, dimension, indices):
    return jnp.take(x, indices, dimension, mode="clip") if x.ndim else x


@row("gather.default")
def gather(x, dimension, indices, sparse_grad=False):
    if not x.ndim:
        return jnp.broadcast_to(x, indices.shape)
    return x[_elements(x, dimension, indices)]


def _elements(x, dimension, indices):
    dimension = at(dimension, x.ndim)
    return tuple(indices if i == dimension else lax.broadcasted_iota(indices.dtype, indices.shape, i) for i in range(x.ndim))


def _part(source, indices):
    return source[tuple(slice(0, size) for size in indices.shape)]


@row("scatter.src")
def scatter(x, dimension, indices, source):
    return x.at[_elements(x, dimension, indices)].set(_part(source, indices).astype(x.dtype))


@row("scatter.value")
def scatter_value(x, dimension, indices, value):
    return x.at[_elements(x, dimension, indices)].set(jnp.asarray(value).astype(x.dtype))


@row("scatter_add.default")
def scatter_add(x, dimension, indices, source):
    return x.at[_elements(x, dimension, indices)].add(_part(source, indices))


@row("scatter_reduce.two", "scatter.reduce")
def scatter_reduce(x, dimension, indices, source, reduce, include_self=True):
    places = x.at[_elements(x, dimension, indices)]
    source = _part(source, indices)
    if reduce == "mean" or not include_self:
        raise NotLowered(f"aten.scatter_reduce of {reduce} with include_self={include_self} is not lowered")
    return {"sum": places.add, "add": places.add, "prod": places.multiply, "multiply": places.multiply, "amax": places.max, "amin": places.min}[reduce](source)


@row("index_add.default")
def index_add(x, dimension, indices, source, alpha=1):
    moved = jnp.moveaxis(x, dimension, 0).at[indices].add(jnp.moveaxis(source, dimension, 0) * jnp.asarray(alpha, x.dtype))
    return jnp.moveaxis(moved, 0, dimension)


@row("index_copy.default")
def index_copy(x, dimension, indices, source):
    return jnp.moveaxis(jnp.moveaxis(x, dimension, 0).at[indices].set(jnp.moveaxis(source, dimension, 0)), 0, dimension)


@row("index_fill.int_Scalar")
def index_fill(x, dimension, indices, value):
    return jnp.moveaxis(jnp.moveaxis(x, dimension, 0).at[indices].set(jnp.asarray(value).astype(x.dtype)), 0, dimension)


@row("searchsorted.Tensor")
def searchsorted(edges, values, out_int32=False, right=False, side=None, sorter=None):
    if edges.ndim != 1 or sorter is not None:
        raise NotLowered("aten.searchsorted in several rows is not lowered")
    return jnp.searchsorted(edges, values, side="right" if right or side == "right" else "left")


@row("bucketize.Tensor")
def bucketize(values, edges, out_int32=False, right=False):
    return searchsorted(edges, values, right=right)
