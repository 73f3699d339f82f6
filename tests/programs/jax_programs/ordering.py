"""Sorting, selecting, counting."""
import jax
import jax.numpy as jnp
from jax import lax

from .registry import f32, i16, i32, program, u8


@program(f32(50), i32(4, 33, low=0, high=9))
def sorts(x, y):
    return jnp.sort(x), jnp.sort(y, axis=0), jnp.sort(y)[:, ::-1]


@program(i32(100, low=0, high=7), f32(5, 1))
def argsort_is_stable(x, y):
    return jnp.argsort(x), jnp.argsort(y), jnp.argsort(x, descending=True)


@program(i32(40, low=0, high=4), f32(40), i32(40))
def sort_by_two_keys(a, b, payload):
    return lax.sort((a, b, payload), num_keys=2)


@program(f32(2, 30))
def top_k(x):
    return lax.top_k(x, 5)


@program(f32(2, 1300), i32(2, 1030, low=-9, high=9), f32(300, 2))
def first_of_long_rows(x, ties, columns):
    # Blocks that divide the row and a rest that is no block, elements that are equal, and none that are numbers.
    x = x.at[0, 5].set(jnp.nan).at[1, 700:].set(jnp.inf)
    return lax.top_k(x, 5), lax.top_k(ties, 16), jnp.sort(columns, 0)[:70], lax.approx_min_k(columns[:, 0], 3)


@program(f32(6, 20))
def approximate_top_k(x):
    # Both at once: two calls name one comparator.
    return lax.approx_max_k(x, 3), lax.approx_max_k(x * 2, 2), lax.approx_min_k(x, 4, reduction_dimension=0)


@program(f32(31), f32(4, 8))
def medians(x, y):
    return jnp.median(x), jnp.median(y, axis=1), jnp.quantile(x, 0.3)


@program(i32(30, low=0, high=8))
def unique_with_a_size(x):
    return jnp.unique(x, size=10, fill_value=-1, return_counts=True)


@program(f32(21), f32(13, low=-2, high=2))
def searches(sorted_later, values):
    return jnp.searchsorted(jnp.sort(sorted_later), values)


@program(f32(64, low=-3, high=3))
def histogram(x):
    return jnp.histogram(x, bins=10, range=(-3, 3))[0]


@program(i32(40, low=0, high=12), i32(40, low=0, high=100))
def counts(x, w):
    return jnp.bincount(x, length=12), jnp.bincount(x, w, length=12)


@program(f32(3, 17), i16(4, 9), u8(20))
def arguments_of_extremes(x, y, z):
    return jnp.argmax(x, 1), jnp.argmin(y, 0), jnp.argmax(z), x.argmin()


@program(f32(20))
def nonzero_with_a_size(x):
    return jnp.nonzero(x > 0.3, size=8, fill_value=0)[0], jnp.where(x > 0, size=20, fill_value=19)[0]


@program(f32(700))
def sort_of_many(x):
    return jnp.sort(x), jnp.argsort(-x)


@program(i32(2, 3000, low=0, high=50), f32(2, 3000))
def sort_of_long_rows(keys, payload):
    return lax.sort((keys, payload), num_keys=1, is_stable=True)


@program(f32(3, 25))
def special_numbers_in_order(x):
    x = x.at[0, 3].set(jnp.nan).at[1, 5].set(jnp.inf).at[2, 1].set(-jnp.inf).at[2, 2].set(-0.0)
    return jnp.sort(x), jnp.sort(x, axis=0)


@program(f32(4, 12), f32(4))
def nucleus_sampling(logits, threshold):
    order = jnp.argsort(-logits)
    p = jax.nn.softmax(jnp.take_along_axis(logits, order, 1))
    keep = jnp.cumsum(p, 1) - p < jax.nn.sigmoid(threshold)[:, None]
    return jnp.where(keep, p, 0) / jnp.where(keep, p, 0).sum(1, keepdims=True), order
