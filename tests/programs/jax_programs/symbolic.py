"""Programs for unknown sizes as people write them; each is lowered once and runs with arguments of two sizes."""
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax, nn

from .registry import boolean, c64, f32, i32, program

NHWC = ("NHWC", "HWIO", "NHWC")


# A transformer ------------------------------------------------------------------------------------------------------------------


def normed(x, g):
    return (x - x.mean(-1, keepdims=True)) * lax.rsqrt(x.var(-1, keepdims=True) + 1e-5) * g


def heads(x, w):
    """Queries, keys and values of two heads."""
    return (each.reshape(*x.shape[:-1], 2, 4) for each in jnp.split(x @ w, 3, -1))


def transformer(words, places, qkv, out, up, down, gain, ids, mask):
    count = ids.shape[1]
    x = words[ids] + places[jnp.arange(count)]
    q, k, v = heads(normed(x, gain), qkv)
    seen = jnp.tril(jnp.ones((count, count), bool)) & (mask[:, None, None, :] > 0)
    scores = jnp.where(seen, jnp.einsum("bqhd,bkhd->bhqk", q, k) / 2, -1e9)
    x = x + jnp.einsum("bhqk,bkhd->bqhd", nn.softmax(scores), v).reshape(x.shape) @ out
    return (x + nn.gelu(normed(x, gain) @ up) @ down) @ words.T


def next_word_loss(weights, ids, mask):
    chances = nn.log_softmax(transformer(*weights, ids, mask)[:, :-1])
    given = jnp.take_along_axis(chances, ids[:, 1:, None], -1)[..., 0]
    return -(given * mask[:, 1:]).sum() / mask[:, 1:].sum()


WEIGHTS = (f32(11, 8), f32(32, 8), f32(8, 24), f32(8, 8), f32(8, 16), f32(16, 8), f32(8))


def sentences(batch, count):
    return i32(batch, count, low=0, high=11), np.tri(batch, count, count - batch + 1, dtype=np.int32)


@program(*WEIGHTS, *sentences(2, 5), sizes=(None,) * 7 + ("b, s+1",) * 2, also=[(*WEIGHTS, *sentences(3, 9))], tolerance=3e-3)
def symbolic_transformer(*arguments):
    return transformer(*arguments), jax.value_and_grad(next_word_loss)(arguments[:7], *arguments[7:])


def cache(batch, count):
    return f32(batch, count, 2, 4), f32(batch, count, 2, 4), i32(batch, low=0, high=11), i32(batch, low=0, high=count)


@program(f32(11, 8), f32(32, 8), f32(8, 24), *cache(5, 7), sizes=(None,) * 3 + ("b, s, 2, 4",) * 2 + ("b", "b"), also=[(f32(11, 8), f32(32, 8), f32(8, 24), *cache(2, 16))], tolerance=1e-3)
def symbolic_decoding_with_a_cache(words, places, qkv, keys, values, word, at):
    """A step: each sentence has a length of its own."""
    q, k, v = heads(words[word] + places[at], qkv)
    each = jnp.arange(word.shape[0])
    keys, values = keys.at[each, at].set(k), values.at[each, at].set(v)
    scores = jnp.einsum("bhd,bshd->bhs", q, keys)
    scores = jnp.where(jnp.arange(keys.shape[1]) <= at[:, None, None], scores, -1e9)
    return jnp.einsum("bhs,bshd->bhd", nn.softmax(scores), values).reshape(-1, 8) @ words.T, keys, values


@program(f32(3, 40), f32(3, low=0.1, high=0.9), f32(3, 2, 7), i32(3, low=0, high=7), sizes=("b, v", "b", "b, 2, c", "b"), also=[(f32(5, 300), f32(5, low=0.1, high=0.9), f32(5, 2, 4), i32(5, low=0, high=4))], tolerance=1e-4)
def symbolic_choices_of_words(scores, chance, beams, y):
    order = jnp.argsort(-scores)
    ordered = nn.softmax(jnp.take_along_axis(scores, order, 1))
    kept = jnp.take_along_axis(jnp.cumsum(ordered, 1) - ordered < 0.7, jnp.argsort(order), 1)
    picked = (jnp.cumsum(ordered, 1) < chance[:, None]).sum(1)
    chances = nn.log_softmax(beams)
    loss = -jnp.mean(jnp.sum(chances[:, 0] * nn.one_hot(y, beams.shape[2]), -1))
    return jnp.where(kept, scores, -9.0), jnp.take_along_axis(order, picked[:, None], 1), loss, jnp.argmax(beams, 2), nn.logsumexp(beams, 2)


@program(f32(2, 3, 7), f32(2, 3), f32(2, 50), f32(6, 4, 8), i32(2, 3, low=0, high=6), sizes=("b, 3, 7", "b, 3", "b, 50", "p, 4, 8", "b, m"), also=[(f32(5, 3, 7), f32(5, 3), f32(5, 50), f32(3, 4, 8), i32(5, 1, low=0, high=3))], tolerance=1e-4)
def symbolic_beams_and_pages(steps, scores, wide, pages, table):
    """A step of a beam search; the words above a limit; keys that lie on pages."""
    total = (scores[..., None] + nn.log_softmax(steps)).reshape(-1, 21)
    best, at = lax.top_k(total, 3)
    keys = pages[table].reshape(table.shape[0], -1, 8)
    return best, at // 7, at % 7, jnp.take_along_axis(steps, (at // 7)[..., None], 1), jnp.where(wide < lax.top_k(wide, 3)[0][:, -1:], -9.0, wide), jnp.einsum("bd,btd->bt", keys[:, 0], keys)


@program(f32(9, 5), i32(2, 6, low=0, high=9), i32(2, low=1, high=6), f32(2, 6, 5), sizes=("v, d", "b, s", "b", "b, s, d"), also=[(f32(4, 3), i32(3, 2, low=0, high=4), i32(3, low=1, high=2), f32(3, 2, 3))])
def symbolic_embeddings_and_lengths(table, ids, lengths, x):
    """Gradients of look-ups; what stands behind each length is left out; the last element of each row."""
    inside = jnp.arange(x.shape[1]) < lengths[:, None]
    return (jax.grad(lambda table: (jnp.take(table, ids, 0) ** 2).sum())(table), jnp.where(inside[..., None], x, 0), x[jnp.arange(x.shape[0]), lengths - 1],
            jnp.take_along_axis(x, (lengths - 1)[:, None, None], 1), jnp.cumsum(inside, 1), jnp.concatenate([x[:, -1:], x[:, :-1]], 1), jnp.roll(x, 2, 1))


# Images -------------------------------------------------------------------------------------------------------------------------


@program(f32(2, 8, 8, 3), f32(3, 3, 3, 4), f32(3, 3, 1, 4), f32(64, 5), sizes=("b, 8, 8, 3", None, None, None), also=[(f32(5, 8, 8, 3), f32(3, 3, 3, 4), f32(3, 3, 1, 4), f32(64, 5))], tolerance=1e-3)
def symbolic_training_of_images(x, w, each, dense):
    def loss(w, each, dense):
        y = nn.relu(lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=NHWC))
        y = lax.conv_general_dilated(y, each, (1, 1), "SAME", dimension_numbers=NHWC, feature_group_count=4)
        y = lax.reduce_window(y, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
        return ((y.reshape(y.shape[0], -1) @ dense) ** 2).mean()

    return jax.value_and_grad(loss, (0, 1, 2))(w, each, dense)


def pictures(batch, height, width):
    return f32(batch, height, width, 4), f32(3, 3, 4, 4), f32(3, 4, 5), f32(batch, 4, height, width)


@program(*pictures(2, 8, 7), sizes=("b, h+5, w+5, 4", None, None, "b, 4, h+5, w+5"), also=[pictures(1, 6, 9)], tolerance=1e-3)
def symbolic_convolutions(x, w, line, channels_first):
    def conv(x, w, *how, **more):
        return lax.conv_general_dilated(x, w, *how, dimension_numbers=NHWC, **more)

    return (conv(x, w, (1, 1), "SAME"), conv(x, w, (2, 2), "SAME"), conv(x, w, (2, 1), "VALID", rhs_dilation=(2, 1)), lax.conv_transpose(x, w, (2, 2), "SAME"), conv(x, w[:, :, :2], (1, 1), [(2, 0), (1, 3)], feature_group_count=2),
            lax.conv_general_dilated(x[:, 0], line, (1,), [(2, 0)], dimension_numbers=("NWC", "WIO", "NWC")), lax.conv(channels_first, w.transpose(3, 2, 0, 1), (1, 2), "VALID"), conv((x * 5).astype(jnp.int8), (w * 5).astype(jnp.int8), (1, 1), "SAME", preferred_element_type=jnp.int32),
            jax.grad(lambda x, w: (conv(x, w, (1, 1), "SAME") ** 2).mean(), (0, 1))(x, w))


@program(f32(2, 7, 6, 3), f32(3), f32(9), sizes=("b, h+2, w+2, 3", None, "n+3"), also=[(f32(1, 4, 9, 3), f32(3), f32(5))], tolerance=1e-4)
def symbolic_pictures_and_windows(x, g, line):
    def over(x, first, combine, *how, **more):
        return lax.reduce_window(x, first, combine, *how, **more)

    mean, variance = x.mean((0, 1, 2)), x.var((0, 1, 2))
    return (over(x, 0.0, lax.add, (1, 2, 2, 1), (1, 2, 2, 1), "SAME"), over(x, -jnp.inf, lax.max, (1, 3, 3, 1), (1, 1, 2, 1), "SAME"), jax.grad(lambda x: (over(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID") ** 2).sum())(x),
            over(line, 0.0, lax.add, (3,), (2,), "SAME"), over(line, 0.0, lax.add, (20,), (3,), ((12, 19),)), over(line, 1.0, lax.mul, (3,), (1,), ((2, 3),), window_dilation=(2,), base_dilation=(2,)),
            (x - mean) * lax.rsqrt(variance + 1e-5) * g, jax.image.resize(x, (x.shape[0], 2 * x.shape[1], 5, 3), "bilinear"), jnp.repeat(jnp.repeat(x, 2, 1), 2, 2), x.reshape(x.shape[0], -1), lax.pad(line, 0.0, ((-1, 2, 1),)), jnp.pad(line, (2, line.shape[0])), jnp.pad(line, 1, "edge"))


# Orders, running things, places ---------------------------------------------------------------------------------------------------


@program(f32(5, 3, 2), f32(9, low=-4, high=4), sizes=("a, b, c", "n"), also=[(f32(2, 6, 7), f32(300, low=-4, high=4))])
def symbolic_orders_of_all_kinds(x, y):
    n = y.astype(jnp.int32)
    kinds = (jnp.int8, jnp.bfloat16, jnp.float16, bool)
    return ([jnp.sort(x, axis) for axis in range(3)], jnp.argsort(x, 1), [jnp.sort(y.astype(kind)).astype(jnp.float32) for kind in kinds], lax.sort((n, y), num_keys=1), lax.sort((n, -y, y), num_keys=2), jnp.lexsort((y, n)),
            jnp.argsort(n, stable=True), jnp.sort(y, descending=True), jnp.argsort(n, descending=True), jnp.median(y), jnp.quantile(x, 0.3, axis=1), y[jnp.argsort(n)], jnp.unique(n, size=4), jnp.histogram(y, jnp.linspace(-2, 2, 5))[0])


@program(f32(2, 20000), i32(2, 300, low=0, high=9), f32(3, 70, 2), sizes=("b, 20000", "b, 300", "a, 70, c"), also=[(f32(5, 20000), i32(5, 300, low=0, high=9), f32(1, 70, 4))])
def symbolic_rows_of_known_length(x, n, y):
    """As many as the program is called with."""
    return lax.top_k(x, 40), lax.top_k(n, 3), jnp.argsort(n, 1), lax.sort((n, x[:, :300]), num_keys=2), jnp.sort(y, 1), jnp.argsort(y, 1, descending=True), jnp.argmax(x, 1)


@program(f32(3, 6), f32(3, 4), sizes=("b, 6", "b, s"), also=[(f32(2, 6), f32(2, 9))], tolerance=1e-4)
def symbolic_gradients_of_orders(x, y):
    return (jax.grad(lambda x: (lax.top_k(x, 2)[0] ** 2).sum())(x), jax.grad(lambda y: (jnp.sort(y, 1) * jnp.arange(y.shape[1])).sum())(y), jax.grad(lambda y: (jnp.cumsum(y, 1) ** 2).sum())(y), jax.grad(lambda x: (x.max(1) ** 2).sum() + jnp.median(x[:, :3], 1).sum())(x))


@program(f32(6), f32(5, 4), boolean(5, 4), sizes=("n", "b, s", "b, s"), also=[(f32(1), f32(2, 1), boolean(2, 1)), (f32(100), f32(3, 33), boolean(3, 33))], tolerance=1e-4)
def symbolic_running_things(y, x, m):
    return (jnp.cumsum(y), jnp.cumsum(x, 0), jnp.cumsum(x, 1), lax.cummax(x, 0, reverse=True), lax.cummin(y, reverse=True), jnp.cumprod(x, 1), lax.cumlogsumexp(x, 0), jnp.cumsum(m, 1), jax.vmap(jnp.cumsum)(x), jnp.cumsum(x))


def table(rows, columns, count):
    return f32(rows, columns), i32(count, low=-9, high=9), f32(count, columns)


@program(*table(6, 3, 4), sizes=("n, d", "k", "k, d"), also=[table(3, 5, 30), table(70, 1, 2)], tolerance=1e-4)
def symbolic_updates_of_rows(x, at, new):
    """Of rows that are outside, and of rows that come twice."""
    ways = [getattr(x.at[at], how)(new) for how in ("add", "max", "min", "multiply", "set")]
    kinds = [x.astype(kind).at[at].add(1).astype(jnp.float32) for kind in (jnp.int8, jnp.uint8, jnp.uint32)]
    return ways, kinds, (x > 0).at[at].set(True), x.at[at].apply(jnp.sin), x.at[at].divide(new + 9), x.at[at[0]].set(2.0), x.at[at, 0].add(new[:, 0]), jax.vmap(lambda row, new: row.at[at].max(new[0]))(x.T, new.T)


@program(f32(6, 6), i32(3, low=0, high=5), sizes=("n+2, n+2", "k"), also=[(f32(3, 3), i32(7, low=0, high=3))], tolerance=1e-4)
def symbolic_updates_of_parts(x, at):
    return (x.at[1:3].set(5.0), x.at[::2].add(1.0), x.at[:, 1:].set(0.0), x.at[..., -1].set(3.0), x.at[-1].add(x[0]), x.at[:, at].multiply(2.0), x.at[at, at].add(2.0), x.at[:, at[0]].set(9.0), x.at[jnp.arange(x.shape[0]), 0].set(9.0),
            x[at][:, at], x[at, :2], x[None, :, None], x[0:2, 1:], x[::-1, ::2], jnp.take(x, at, 1, mode="clip"), x.at[at].get(mode="fill", fill_value=7), jnp.tril(x), jnp.diagonal(x), jnp.eye(x.shape[0]))


@program(f32(5, 4), i32(9, low=0, high=5), i32(9, low=0, high=5), f32(4, 3), sizes=("n, 4", "e", "e", None), also=[(f32(6, 4), i32(3, low=0, high=6), i32(3, low=0, high=6), f32(4, 3))], tolerance=1e-4)
def symbolic_graphs(x, source, target, w):
    """Messages along edges; a softmax over those that come in; experts; nearest centers."""
    share = jnp.exp(x[source, 0])
    chances, expert = lax.top_k(nn.softmax(x @ w), 2)
    near = jnp.argmin(((x[:, None] - w.T) ** 2).sum(-1), 1)
    return (jax.ops.segment_sum(nn.relu(x[source] @ w), target, x.shape[0]), jax.ops.segment_max(x[source], target, 4), jax.ops.segment_prod(x[source], target, 3), share / jax.ops.segment_sum(share, target, x.shape[0])[target],
            jnp.einsum("nk,nkd->nd", chances, w.T[expert]), jax.ops.segment_sum(x, near, 3) / jnp.maximum(jnp.bincount(near, length=3), 1)[:, None], jnp.bincount(source, length=5), jnp.zeros(4, bool).at[source].set(True))


# Loops, factors, complex numbers ----------------------------------------------------------------------------------------------------


@program(f32(5, 2, 4), f32(2, 4), f32(4, 4), i32(2, 3, low=0, high=4), sizes=("t, b, 4", "b, 4", None, "b, 3"), also=[(f32(9, 3, 4), f32(3, 4), f32(4, 4), i32(3, 3, low=0, high=4))], tolerance=1e-3)
def symbolic_loops(xs, h, w, labels):
    def step(h, x):
        h = jnp.tanh(h @ w + x)
        return h, h

    def forward(a, e):
        return jnp.logaddexp(a, jnp.pad(a, ((0, 0), (1, 0)), constant_values=-1e9)[:, :-1]) + jnp.take_along_axis(e, labels, 1), None

    return (lax.scan(step, h, xs), jax.grad(lambda h: lax.scan(step, h, xs)[1].sum())(h), lax.scan(step, h, xs, reverse=True)[1], lax.scan(forward, jnp.full(labels.shape, -1e9).at[:, 0].set(0.0), xs)[0], lax.fori_loop(0, xs.shape[0], lambda i, a: a.at[i].set(a[i] * 2 + a[i - 1]), xs),
            lax.cond(xs.sum() > 0, lambda: jnp.sort(xs, 0), lambda: xs), lax.map(lambda x: x[::-1], xs), lax.while_loop(lambda s: (s[0] < 4) & (s[1].sum() < 1e6), lambda s: (s[0] + 1, s[1] * 1.5 + h), (0, h)))


@program(f32(5, 3), sizes=("n, m",), also=[(f32(1, 7),), (f32(300, 2),)])
def symbolic_counts(x):
    ones = jnp.ones(x.shape)
    return ones.sum(0), ones.sum(), (x * 0 + 1).mean(1), ones.T @ x, jnp.full(x.shape, 2).max(1), jax.grad(lambda x: (jnp.ones_like(x).sum(0) * x).sum())(x), jax.nn.softmax(jnp.zeros_like(x), 0)


@program(f32(3, 5, 2, 4), f32(3, 2), sizes=("b, i, 2, k", "b, 2"), also=[(f32(2, 3, 2, 7), f32(2, 2))])
def symbolic_products_with_vectors(x, v):
    return jnp.einsum("bijk,bj->bik", x, v), jnp.einsum("bijk,bj->kb", x, v)


@program(f32(3, 4, 4), f32(3, 4, 2), sizes=("b, n, n", "b, n, 2"), also=[(f32(2, 7, 7), f32(2, 7, 2))], tolerance=1e-2)
def symbolic_factors(a, b):
    safe = a @ a.mT + jnp.eye(a.shape[-1])
    return (jnp.linalg.solve(safe, b), jnp.linalg.cholesky(safe), jnp.linalg.det(a), jnp.linalg.slogdet(safe), jax.scipy.linalg.solve_triangular(jnp.linalg.cholesky(safe)[0], b[0], lower=True), jax.grad(lambda b: jnp.linalg.solve(safe, b).sum())(b))


@program(c64(3, 4), f32(3, 8), sizes=("b, 4", "b, 8"), also=[(c64(2, 4), f32(2, 8))], tolerance=1e-4)
def symbolic_complex_numbers(z, x):
    return (z * z.conj(), z @ z.T, jnp.exp(z), z[1:], z[::-1], z.sum(0), jnp.where(x[:, :4] > 0, z, 0), jnp.concatenate([z, z]), z.at[0].set(1j), z.at[:, 1].add(2j), z[jnp.array([1, 0])], jnp.pad(z, 1), z.reshape(-1), lax.scan(lambda c, r: (c + r, c), z[0], z)[1],
            jnp.fft.ifft(z), jnp.fft.rfft(x), jnp.fft.irfft(z), jnp.fft.irfft2(jnp.fft.rfft2(x.reshape(-1, 2, 4))), jnp.fft.fftshift(x, 0))


@program(f32(6, 3), f32(4, 5), sizes=("6, n", "k, 5"), also=[(f32(6, 7), f32(2, 5))])
def symbolic_products_with_rules_for_any_platform(x, y):
    """JAX's rules for CPUs ask for XLA's library of sparse matrices, and refuse sums of halves in f32."""
    from jax.experimental import sparse
    pattern = np.arange(24, dtype=np.float32).reshape(4, 6)
    pattern[1] = pattern[2, ::2] = 0
    halves = y.astype(jnp.float16)
    return sparse.BCSR.fromdense(pattern, nse=20) @ x, lax.dot_general(halves, halves, (((1,), (1,)), ((), ())), preferred_element_type=jnp.float32)


def wholes_of_factors(a, b):
    """What factors make, which all have in common, and what has no sign to choose."""
    w, v = jnp.linalg.eigh(a + jnp.conj(a.mT))
    u, d, vt = jnp.linalg.svd(b)
    thin, small, _ = jnp.linalg.svd(b, full_matrices=False)
    q, r = jnp.linalg.qr(b)
    p, s, places = lax.linalg.qr(b, pivoting=True)
    values, vectors = jnp.linalg.eig(a)
    form, turn = lax.linalg.schur(a)
    return (w, (v * w[..., None, :]) @ jnp.conj(v.mT), d, (u[..., :3] * d[..., None, :]) @ vt, (thin * small[..., None, :]) @ vt, q @ r, p @ s, places,
            (vectors * values[..., None, :]) @ jnp.linalg.inv(vectors), turn @ form @ jnp.conj(turn.mT), *lax.linalg.hessenberg(a)[:1],
            *lax.linalg.tridiagonal(a + jnp.conj(a.mT))[1:3], jnp.linalg.pinv(b))


@program(f32(3, 4, 4), f32(3, 5, 3), sizes=("b, 4, 4", "b, 5, 3"), also=[(f32(1, 4, 4), f32(1, 5, 3)), (f32(7, 4, 4), f32(7, 5, 3))], tolerance=1e-3)
def symbolic_batches_of_factors(a, b):
    return wholes_of_factors(a, b)


@program(c64(2, 3, 4, 4), c64(2, 3, 5, 3), sizes=("b, c, 4, 4", "b, c, 5, 3"), also=[(c64(1, 2, 4, 4), c64(1, 2, 5, 3))], tolerance=1e-3)
def symbolic_batches_of_complex_factors(a, b):
    return wholes_of_factors(a, b)
