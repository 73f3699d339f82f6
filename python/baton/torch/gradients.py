"""Rows of the table: what flows back through windows and sizes. What is linear in its tensor is transposed by JAX."""
import math

import jax
import jax.numpy as jnp

from .graph import row
from .windows import UPSAMPLED, adaptive_avg_pool, avg_pool, pad_by_number


def _back(function, x, gradient):
    return jax.vjp(function, x)[1](gradient.astype(x.dtype))[0]


def _to_places(rank):
    def backward(gradient, x, *arguments):
        """Each gradient goes to where its window's largest number stands; the places are the last argument."""
        outer, inner = math.prod(x.shape[:-rank]), math.prod(x.shape[-rank:])
        places = arguments[-1].reshape(outer, math.prod(gradient.shape[-rank:])) + jnp.arange(outer)[:, None] * inner
        return jnp.zeros(outer * inner, x.dtype).at[places.reshape(-1)].add(gradient.reshape(-1).astype(x.dtype)).reshape(x.shape)

    return backward


def _of_avg_pool(rank):
    return lambda gradient, x, *arguments: _back(lambda x: avg_pool(rank)(x, *arguments), x, gradient)


def _of_adaptive_avg_pool(rank):
    return lambda gradient, x: _back(lambda x: adaptive_avg_pool(x, gradient.shape[-rank:]), x, gradient)


def _of_pad(rank, is_reflection):
    return lambda gradient, x, widths: _back(lambda x: pad_by_number(rank, is_reflection)(x, widths), x, gradient)


for dimensions in (2, 3):
    row(f"max_pool{dimensions}d_with_indices_backward.default", f"adaptive_max_pool{dimensions}d_backward.default")(_to_places(dimensions))
    row(f"avg_pool{dimensions}d_backward.default")(_of_avg_pool(dimensions))
    row(f"_adaptive_avg_pool{dimensions}d_backward.default")(_of_adaptive_avg_pool(dimensions))
for dimensions in (1, 2, 3):
    row(f"replication_pad{dimensions}d_backward.default")(_of_pad(dimensions, False))
    row(f"reflection_pad{dimensions}d_backward.default")(_of_pad(dimensions, True))


@row("_weight_norm_interface_backward.default")
def of_weight_norm(gradient, direction, length, norms, dimension):
    """Of direction * length / norms, whose norms are those of the rows of one dimension."""
    others = tuple(i for i in range(direction.ndim) if i != dimension)
    norms = norms.astype(direction.dtype)
    along = jnp.sum(gradient * direction, others, keepdims=True) / norms
    return length / norms * (gradient - direction * along / norms), along


def _of_upsample(function):
    def backward(gradient, size, old_shape, *arguments):
        return _back(lambda x: function(x, size, *arguments), jnp.zeros(tuple(old_shape), gradient.dtype), gradient)

    return backward


for name, upsample in UPSAMPLED.items():
    row(f"{name}_backward.default")(_of_upsample(upsample))
