"""Moving elements: slices, gathers, scatters, windows, sums along, unknown and empty sizes."""
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from .registry import boolean, f32, i32, program


@program(f32(6, 40), f32(4, 40))
def moves(x, y):
    both = jnp.concatenate([x, y])
    return jnp.roll(x, 3, 1), jnp.flip(x, 1), jnp.stack([y, y * 2], 1), both[::-1, ::3], jnp.tile(y, (2, 2)), jnp.repeat(y, 3, 0)


@program(f32(5, 6))
def pads(x):
    return jnp.pad(x, ((1, 2), (0, 3))), jnp.pad(x, 2, mode="edge"), jnp.pad(x, 2, mode="reflect"), lax.pad(x, 0.0, ((1, -1, 1), (-1, 2, 0)))


@program(f32(4, 5, 6), f32(2, 3, 4, 5))
def permutations(x, y):
    return x.transpose(2, 0, 1), y.transpose(3, 1, 0, 2), x.reshape(10, 12).T, jnp.moveaxis(y, 0, -1).reshape(-1)


@program(f32(3, 50))
def sums_along(x):
    return jnp.cumsum(x, 1), jnp.cumprod(x * 0.5, 1), lax.cummax(x, 1), lax.cumlogsumexp(x, 1), jnp.cumsum(x[:, ::-1], 1), jnp.diff(x)


@program(f32(2, 3, 4, 5))
def reductions(x):
    return x.sum(), x.sum((0, 2)), x.max((1, 3)), x.prod(0), x.std(), (x > 0).any(3), x.min(2), jnp.ptp(x, 1), x.mean((), keepdims=True)


@program(f32(20, 6), i32(9, low=0, high=20), i32(4, 2, low=0, high=6))
def gathers(table, rows, pairs):
    return table[rows], table[:, pairs], table[pairs, pairs], jnp.take(table, rows, axis=0, mode="clip"), table[rows, 2]


@program(f32(8, 4), i32(5, low=0, high=8), f32(5, 4))
def scatters(x, rows, updates):
    return x.at[rows].add(updates), x.at[rows].set(updates), x.at[rows, 1].multiply(2.0), x.at[rows].max(updates), x.at[2, 3].set(9.0)


@program(f32(8, 4), i32(6, low=0, high=9), f32(6, 4), f32(6, 2, 3))
def scatters_in_order(x, rows, updates, windows):
    numbers = lax.ScatterDimensionNumbers((1, 2), (), (0,))
    return (x.at[rows].apply(lambda v: v * 2 + 1), x.at[rows].divide(updates), x.at[rows].set(updates, mode="drop"),
            lax.scatter_add(x, rows[:, None], windows, numbers), jax.vmap(lambda v, i, u: v.at[i].add(u))(x[:6], rows % 4, updates[:, 0]))


@program(f32(6, 1, 4), i32(9, 1, low=-1, high=7), f32(9, 4), f32(3, 4, 1), f32(2, 4))
def scatters_along_sizes_of_one(x, rows, updates, windows, pairs):
    # A dimension of one element that updates lack, and indices do not choose.
    numbers = lax.ScatterDimensionNumbers((1,), (0, 1), (0,))
    ways = [scatter(x, rows, updates, numbers) for scatter in (lax.scatter_add, lax.scatter_max, lax.scatter_mul, lax.scatter)]
    return ways, lax.scatter_add(x.reshape(1, 6, 4), rows[:3], windows, lax.ScatterDimensionNumbers((1, 2), (0,), (1,))), lax.scatter_min(x, rows[:2], pairs, numbers)


@program(f32(90, 7), i32(500, low=-3, high=93), f32(500, 7), tolerance=1e-4)
def many_updates_of_few_rows(x, rows, updates):
    return (x.at[rows].add(updates), x.at[rows].max(updates), x.at[rows].multiply(1 + updates * 0.01), jnp.bincount(jnp.abs(rows) * 3, length=300))


@program(f32(30, 3), i32(30, low=0, high=6))
def segments(x, ids):
    return jax.ops.segment_sum(x, ids, 6), jax.ops.segment_max(x, ids, 6), jax.ops.segment_min(x, ids, num_segments=8)


@program(f32(6, 7), i32(low=0, high=5), i32(low=0, high=5))
def dynamic_slices(x, i, j):
    return lax.dynamic_slice(x, (i, j), (2, 3)), lax.dynamic_update_slice(x, jnp.ones((2, 2)), (i, j)), x[i], x.at[:, j].add(1.0)


@program(i32(4, 3, low=0, high=5), f32(4, 3, 5))
def one_hots(x, y):
    return jax.nn.one_hot(x, 5), jnp.take_along_axis(y, x[..., None], 2), jnp.put_along_axis(y, x[..., None], 7.0, 2, inplace=False)


@program(f32(2, 9, 9, 3))
def windows(x):
    mean = lax.reduce_window(x, 0.0, lax.add, (1, 3, 3, 1), (1, 2, 2, 1), "SAME") / 9
    smallest = lax.reduce_window(x, jnp.inf, lax.min, (1, 2, 2, 1), (1, 1, 1, 1), "VALID")
    return mean, smallest, lax.reduce_window(x, 0.0, lax.add, (1, 2, 2, 1), (1, 1, 1, 1), "VALID", window_dilation=(1, 3, 3, 1))


@program(f32(1, 7, 7, 2), f32(2, 6))
def gradients_of_windows(x, line):
    def pooled(x):
        return (lax.reduce_window(x, -jnp.inf, lax.max, (1, 3, 3, 1), (1, 2, 2, 1), "SAME") ** 2).sum()

    return jax.grad(pooled)(x), jax.grad(lambda x: (lax.cumprod(x, 1) ** 2).sum())(line), jax.grad(lambda x: (jnp.sort(x, 1)[:, ::2]).sum())(line)


@program(f32(2, 8, 8, 4), f32(3, 3, 4, 6), f32(3, 3, 2, 6), f32(2, 12, 4), f32(5, 4, 3))
def convolutions(x, w, grouped, line, filter1):
    plain = lax.conv_general_dilated(x, w, (1, 2), ((1, 1), (0, 2)), rhs_dilation=(2, 1), dimension_numbers=("NHWC", "HWIO", "NHWC"))
    groups = lax.conv_general_dilated(x, grouped, (1, 1), "SAME", feature_group_count=2, dimension_numbers=("NHWC", "HWIO", "NHWC"))
    dilated = lax.conv_general_dilated(x.transpose(0, 3, 1, 2), w, (1, 1), ((1, 1), (1, 1)), lhs_dilation=(2, 2), dimension_numbers=("NCHW", "HWIO", "NCHW"))
    return plain, groups, dilated, lax.conv_general_dilated(line, filter1, (1,), "SAME", dimension_numbers=("NWC", "WIO", "NWC"))


@program(f32(3, 4, 5), f32(5, 6), f32(3, 4, 6), f32(4, 4))
def einsums(a, b, c, square):
    return (jnp.einsum("ijk,kl->ijl", a, b), jnp.einsum("ijk,ijl->kl", a, c), jnp.einsum("ijk,kl,ijl->i", a, b, c),
            jnp.einsum("ii->i", square), jnp.einsum("ij->", square), jnp.einsum("ijk->kji", a), jnp.einsum("ij,ik->jk", square, square))


@program(f32(2, 3, 4, 5), f32(2, 3, 5, 6), f32(7), f32(7))
def batched_products(a, b, x, y):
    return a @ b, jnp.einsum("abij,abjk->baki", a, b), jnp.dot(x, y), jnp.outer(x, y), jnp.tensordot(a, b, ((0, 1), (0, 1)))


@program(f32(6, 8), f32(8, 4), f32(4), sizes=("b, 8", None, None))
def unknown_batch(x, w, bias):
    return jax.nn.softmax(jax.nn.relu(x @ w + bias)), x.mean(0)


@program(f32(3, 5, 8), f32(3, 5, 8), sizes=("b, s, 8", "b, s, 8"))
def unknown_sizes(q, k):
    return jax.nn.softmax(jnp.einsum("bqd,bkd->bqk", q, k)), jnp.concatenate([q, k], 1), q.reshape(-1, 8), jnp.arange(q.shape[1]) + 1


@program(f32(9), sizes=("n",))
def unknown_length(x):
    return x[::-1], jnp.pad(x, 1), x / x.shape[0], jnp.zeros((x.shape[0], 2)), x[1:] - x[:-1]


@program(f32(9), sizes=("n",))
def running_sum_of_unknown_length(x):
    return jnp.cumsum(x)


@program(f32(0, 4), f32(3, 4), f32(4, 0))
def empty_sizes(a, b, c):
    return jnp.concatenate([a, b]), a.sum(0), b @ c, a * 2, c.T @ c


@program(f32(5), f32())
def ranks_of_zero(x, y):
    return x[2] * y, jnp.sum(x) + y, jnp.reshape(y, (1, 1)), x.reshape(5, 1) * y


@program(f32(7, 7), boolean(7, 7))
def matrices(x, mask):
    return jnp.triu(x), jnp.tril(x, -1), jnp.diag(x), jnp.trace(x), jnp.diag(x[0]), jnp.kron(x[:2, :2], x[:2, :3]), jnp.where(mask, x, x.T)


@program(f32(6, 6, 3))
def resized(x):
    return jax.image.resize(x, (9, 4, 3), "bilinear"), jax.image.resize(x, (12, 12, 3), "nearest")


@program(f32(2, 3), i32(3))
def constants_inside(x, y):
    table = jnp.arange(3000, dtype=jnp.float32).reshape(1000, 3)
    return x @ table[:3], table.sum(0) + y, jnp.linspace(0, 1, 7), jnp.meshgrid(x[0], x[1])[0]


@program(f32(4, 9), f32(9), f32(3))
def interpolated(values, grid, at):
    return jax.vmap(lambda v: jnp.interp(at, jnp.cumsum(jnp.abs(grid)), v))(values), jnp.convolve(grid, at, "same")


# More tensors, scalars and unknown sizes than one kernel takes.

@program(*[f32(9)] * 70)
def many_tensors(*xs):
    doubled = [x * 2 for x in xs]
    return sum(xs), sum(x * x.max() for x in xs), jnp.stack(doubled), sum(x[jnp.array([8, 0])] for x in xs), doubled[:66]


@program(*[f32(4, 4)] * 65)
def many_products(*xs):
    length = jnp.sqrt(sum(jnp.sum(x * x) for x in xs))
    return sum(x @ xs[0] for x in xs), [x / length for x in xs[:3]]


@program(*[f32()] * 70)
def many_scalars(*xs):
    return jnp.stack(xs) * 2, jnp.array(xs).reshape(7, 10)


@program(*[f32(2, 3, 4)] * 30, sizes=("a, b, c",) * 30)
def many_unknown_sizes(*xs):
    return sum(xs), jnp.concatenate(xs, 1)


@program(f32(3, 70), f32(33, 4), i32(17, low=-9, high=9))
def long_running_sums(x, y, z):
    """Of more elements than windows are made for, forward and back, at sizes that are no powers of two."""
    return (jnp.cumsum(x, 1), lax.cumsum(x, axis=1, reverse=True), lax.cummax(y, axis=0, reverse=True), lax.cummin(y, axis=0),
            jnp.cumprod(x * 0.1 + 1, 1), lax.cumlogsumexp(y, axis=0), jnp.cumsum(z), jax.grad(lambda x: (jnp.cumsum(x, 1) ** 2).sum())(x))


@program(f32(70, 131), f32(9, 70, 65), f32(40, 5, 33))
def turned_over_tiles(x, y, z):
    return x.T + 1, x + (x * 2).T.reshape(70, 131), y.transpose(2, 0, 1) * 2, y.transpose(0, 2, 1) + 1, z.transpose(1, 2, 0) * 3, z.transpose(2, 1, 0) + 1


@program(f32(50, 66), f32(3, 20, 40))
def slices_in_place(x, y):
    gates = jax.nn.sigmoid(x[:, :22]) * jnp.tanh(x[:, 22:44]) + x[:, 44:]
    inner = y[1:, 2:-2, 3:-3]
    return gates, x[:, 1:].sum(1), jax.nn.softmax(x[:, 5:60], 1), inner * 2 + y[:-1, 1:-3, 6:], inner.max(1), x[:, :40] @ x[:40, 20:], x[:, 1:] - x[:, :-1]


@program(f32(40, 40), f32(30))
def places_and_products(x, y):
    """Numbers of places are counted where they are read, but a product stays one."""
    place = jnp.arange(40.0)
    return (place[None] * 2 + jnp.zeros((40, 40))) @ x, place[None] * x + place[:, None], (x > place).sum(1), y * jnp.arange(30), y[::-1] + jnp.arange(30) % 7


@program(f32(130), i32(4))
def tables_of_many_bools(x, at):
    """More than a hundred elements are written as hexadecimal digits."""
    places = np.arange(130)
    first, second = jnp.asarray(places % 3 == 1), jnp.asarray((places * 7 % 11 < 4).reshape(10, 13))
    return jnp.where(first, x, 0), second[at] & second[:4], jnp.where(second, x.reshape(10, 13), -1), first[at * 9]
