"""What people write beside models: steps of optimizers, scans of every kind, sorts of several things, types mixed."""
import functools

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from .registry import bf16, boolean, c64, f16, f32, f64, i8, i16, i32, i64, program, u8, u16, u32, u64


@program(f32(64, 48), f32(64, 48), f32(64, 48), f32(64, 48, low=0, high=1), i32(low=1, high=9))
def adamw_with_bias_correction(weight, gradient, first, second, step):
    norm = jnp.sqrt((gradient * gradient).sum())
    gradient = gradient * jnp.minimum(1.0, 1.0 / (norm + 1e-6))
    first, second = 0.9 * first + 0.1 * gradient, 0.99 * second + 0.01 * gradient ** 2
    t = step.astype(jnp.float32)
    scaled = (first / (1 - 0.9 ** t)) / (jnp.sqrt(second / (1 - 0.99 ** t)) + 1e-8)
    return weight - 1e-3 * (scaled + 0.01 * weight), first, second, step + 1


@program(bf16(40, 24), bf16(40, 24), f32(40, 24))
def lion_with_masters(weight, gradient, momentum):
    wide = gradient.astype(jnp.float32)
    update = jnp.sign(0.9 * momentum + 0.1 * wide)
    return (weight.astype(jnp.float32) - 0.01 * update).astype(jnp.bfloat16), 0.99 * momentum + 0.01 * wide


@program(f32(3, 4, 5), f32(5, 6), f32(3, 6, 7), f32(7, 4))
def einsum_chains(a, b, c, d):
    return (jnp.einsum("xij,jk,xkl,li->x", a, b, c, d), jnp.einsum("xij,jk->ikx", a, b), jnp.einsum("iij->j", jnp.ones((4, 4, 3)) * a[0, 0, 0]),
            jnp.einsum("xij,ykl->xyjk", a, c[:, :, :2]), jnp.einsum("...ij,jk->...k", a, b))


@program(f32(33, 5, low=0.5, high=1), f32(33, 5))
def associative_scans(decay, x):
    def join(a, b):
        return a[0] * b[0], a[1] * b[0] + b[1]

    return (*lax.associative_scan(join, (decay, x)), lax.associative_scan(jnp.maximum, x, reverse=True), lax.associative_scan(jnp.add, x, axis=1))


@program(f32(7, 29), i32(7, 29, low=-3, high=4), f16(7, 29))
def running_operations(x, n, h):
    return (jnp.cumsum(x, 0), jnp.cumprod(x, 1), lax.cummax(x, 1), lax.cummin(n, 0, reverse=True), jnp.cumsum(n, 1), lax.cumlogsumexp(x, 1),
            jnp.cumsum(h, 1, dtype=jnp.float32), jnp.cumprod(n, 1))


@program(f32(60, 3), i32(60, low=-2, high=13), i32(60, low=0, high=5))
def segment_operations(x, at, group):
    return (jax.ops.segment_sum(x, at, 12), jax.ops.segment_max(x, at, 12), jax.ops.segment_min(x, group, 7), jax.ops.segment_prod(x, jnp.sort(group), 5, indices_are_sorted=True),
            jnp.bincount(group, length=6), jnp.zeros(12).at[at].add(x[:, 0], mode="drop"), jnp.zeros((5, 3)).at[group].mul(x))


@program(f32(9, 40), i16(9, 40), u8(300), f64(11, 6), boolean(5, 70), x64=True)
def orders_of_all_types(x, s, b, d, flags):
    return (jnp.argsort(x, axis=1), jnp.sort(s, axis=0, descending=True), jnp.sort(b), jnp.argsort(d, 0), jnp.sort(flags, 1), jnp.argsort(-x, 0),
            lax.sort((s, x, s.astype(jnp.int64)), dimension=1, num_keys=2))


@program(f32(3, 700), i32(2600, low=-40, high=40), f16(2, 513), u32(1500), bf16(4, 260))
def orders_of_several_lengths(x, ties, h, u, w):
    x = x.at[0, 3].set(jnp.nan).at[1, 5:9].set(jnp.inf).at[2, 1].set(-jnp.inf).at[2, ::7].set(0.0).at[2, 1::7].set(-0.0)
    return jnp.sort(x), jnp.argsort(x), jnp.argsort(ties), jnp.sort(ties, descending=True), jnp.sort(h), jnp.sort(u), jnp.argsort(w), 1 / jnp.sort(x)


@program(f32(5, 31), f32(64))
def medians_and_quantiles(x, y):
    return (jnp.median(x, axis=1), jnp.quantile(y, jnp.array([0.1, 0.5, 0.93])), jnp.percentile(x, 30, axis=0, method="nearest"), jnp.nanmedian(x.at[1, 2].set(jnp.nan), 1),
            jnp.median(x))


@program(f32(50), f32(21), i32(30, low=0, high=9), i32(30, low=0, high=9))
def sets_and_searches(table, wanted, a, b):
    table = jnp.sort(table)
    return (jnp.searchsorted(table, wanted), jnp.searchsorted(table, wanted, side="right", method="sort"), jnp.unique(a, size=9, fill_value=-1, return_counts=True, return_inverse=True),
            jnp.isin(a, b[:4]), jnp.intersect1d(a, b, size=9, fill_value=99), jnp.digitize(wanted, table[::5]), jnp.lexsort((a, b)))


@program(f32(2, 13, 11, 6), f32(3, 3, 2, 8), f32(2, 6, 9), f32(6, 6, 4))
def convolutions_of_all_kinds(x, grouped, line, w1):
    nhwc = ("NHWC", "HWIO", "NHWC")
    return (lax.conv_general_dilated(x[..., :6], jnp.concatenate([grouped] * 3, -1)[..., :9], (2, 1), [(2, 1), (0, 3)], rhs_dilation=(2, 2), dimension_numbers=nhwc, feature_group_count=3),
            lax.conv_general_dilated(x[..., :2], grouped, (1, 2), [(2, 1), (0, 1)], lhs_dilation=(2, 3), dimension_numbers=nhwc),
            lax.conv_general_dilated(line, w1, (2,), "SAME", rhs_dilation=(2,), dimension_numbers=("NCH", "OIH", "NCH")),
            lax.conv_general_dilated(x[..., :2], grouped, (1, 1), [(-1, 2), (3, -2)], dimension_numbers=nhwc),
            lax.conv_transpose(x[..., :2], grouped, (2, 2), "SAME"), lax.conv_transpose(x[..., :2], grouped, (3, 1), [(2, 1), (0, 3)], rhs_dilation=(1, 2)),
            lax.conv(jnp.transpose(x, (0, 3, 1, 2)), jnp.ones((4, 6, 3, 3)) * grouped[0, 0, 0, 0], (1, 1), "SAME"),
            jnp.convolve(x[0, :, 0, 0], x[1, :5, 0, 0], mode="full"), lax.conv_general_dilated(x[0, :, :, None, :].transpose(3, 0, 1, 2)[..., 0][..., None], grouped[:, :, :1, :6], (1, 1), "SAME", dimension_numbers=nhwc, batch_group_count=3))


@program(f32(2, 9, 10, 4), f32(3, 3, 4, 6))
def gradients_of_convolutions(x, w):
    def loss(x, w, **how):
        return jnp.sin(lax.conv_general_dilated(x, w, dimension_numbers=("NHWC", "HWIO", "NHWC"), **how)).sum()

    ways = [{"window_strides": (2, 3), "padding": [(1, 1), (0, 2)]}, {"window_strides": (1, 2), "padding": "VALID", "rhs_dilation": (2, 1)},
            {"window_strides": (1, 1), "padding": [(2, 0), (1, 1)], "lhs_dilation": (2, 2)}]
    grouped = {"window_strides": (2, 2), "padding": [(1, 0), (0, 2)], "feature_group_count": 2}
    return ([jax.grad(functools.partial(loss, **way), (0, 1))(x, w) for way in ways],
            jax.grad(functools.partial(loss, **grouped), (0, 1))(x, w[:, :, :2]))


@program(f32(2, 9, 11, 3))
def gradients_of_pools(x):
    def pool(x, size, stride, padding):
        return lax.reduce_window(x, -jnp.inf, lax.max, (1, *size, 1), (1, *stride, 1), padding)

    def mean(x):
        return lax.reduce_window(x, 0.0, lax.add, (1, 3, 2, 1), (1, 2, 2, 1), "SAME") / 6

    return (jax.grad(lambda x: (pool(x, (3, 3), (2, 2), "SAME") ** 2).sum())(x), jax.grad(lambda x: (pool(x, (2, 3), (1, 2), "VALID") ** 3).sum())(x),
            jax.grad(lambda x: (mean(x) ** 2).sum())(x))


@program(f32(8, 5, 6), f32(6), f32(6))
def batch_norm_training(x, scale, shift):
    def forward(x, scale, shift):
        mean, variance = x.mean((0, 1)), x.var((0, 1))
        return (x - mean) * lax.rsqrt(variance + 1e-5) * scale + shift, mean, variance

    def loss(x, scale, shift):
        y, mean, variance = forward(x, scale, shift)
        return (jnp.tanh(y) ** 2).sum(), (0.9 + 0.1 * mean, variance)

    return jax.value_and_grad(loss, (0, 1, 2), has_aux=True)(x, scale, shift)


@program(f32(12, 3, 4), f32(4, 15), f32(5, 15), f32(15), i32(3, low=1, high=12))
def gru_of_lengths(x, w, u, b, lengths):
    def cell(h, now):
        step, row = now
        a, c = row @ w + b, h @ u
        r, z = jax.nn.sigmoid(a[:, :5] + c[:, :5]), jax.nn.sigmoid(a[:, 5:10] + c[:, 5:10])
        new = (1 - z) * jnp.tanh(a[:, 10:] + r * c[:, 10:]) + z * h
        h = jnp.where((step < lengths)[:, None], new, h)
        return h, h

    def loss(w, u):
        last, every = lax.scan(cell, jnp.zeros((3, 5)), (jnp.arange(12), x))
        return (last ** 2).sum() + every.mean()

    return jax.value_and_grad(loss, (0, 1))(w, u)


@program(f32(6, 6), f32(6))
def conjugate_gradients(a, b):
    matrix = a @ a.T + 6 * jnp.eye(6)

    def step(state):
        x, r, p, n = state
        ap = matrix @ p
        alpha = (r @ r) / (p @ ap)
        x, new = x + alpha * p, r - alpha * ap
        return x, new, new + (new @ new) / (r @ r) * p, n + 1

    return lax.while_loop(lambda s: ((s[1] @ s[1]) > 1e-4) & (s[3] < 30), step, (jnp.zeros(6), b, b, 0))[0]


@program(f32(4, 10), i32(low=0, high=4), boolean())
def branches_of_trees(x, which, flag):
    tree = {"a": x, "b": (x[0], jnp.arange(3))}
    one = lax.cond(flag, lambda t: jax.tree.map(lambda v: v * 2, t), lambda t: {"a": t["a"][::-1], "b": (t["b"][0] - 1, t["b"][1] + 5)}, tree)
    return one, lax.switch(which, [lambda v: v.sum(0), lambda v: jnp.sort(v[1]), lambda v: v[2] @ v.T @ v, lambda v: v.max(0)], x), lax.select_n(flag, x, -x)


@program(f32(5, 8, 9), i32(5, low=-3, high=12), i32(5, low=0, high=9), f32(5, 3))
def vmaps_of_dynamic_slices(x, i, j, new):
    return (jax.vmap(lambda v, a, b: lax.dynamic_slice(v, (a, b), (3, 4)))(x, i, j), jax.vmap(lambda v, a, n: lax.dynamic_update_slice(v, n[None], (a, 2)))(x, i, new),
            jax.vmap(lambda v, a: v.at[a].set(7.0))(x, j), jax.vmap(lambda v, a: v[a], (0, None))(x, j), jax.vmap(lambda v, a: jnp.roll(v, a, 0))(x, i))


@program(f32(6, 7), i32(low=-9, high=20))
def rolls_and_pads(x, by):
    return (jnp.roll(x, by, 0), jnp.roll(x, (2, -3), (0, 1)), jnp.roll(x, 5), lax.pad(x, -1.0, [(-2, 1, 0), (3, -1, 2)]), lax.pad(x, 0.0, [(-7, 3, 1), (0, 0, 0)]),
            jnp.pad(x, ((1, 2), (3, 0)), mode="reflect"), jnp.pad(x, 2, mode="edge"), jnp.pad(x, 2, mode="wrap"), jnp.pad(x, ((0, 0), (1, 2)), mode="linear_ramp"))


@program(f32(3, 4, 5, 6), i8(3, 4, 5), boolean(4, 9), i32(5, 6, low=-9, high=9))
def reductions_that_keep(x, n, flags, m):
    return (x.sum((0, 2), keepdims=True), x.max((1, 3)), x.prod(2, keepdims=True), x.std((0, 3), ddof=1), n.sum((0, 1)), n.max(2), flags.any(0), flags.all(1, keepdims=True),
            flags.sum(), m.argmin(0), x.argmax(2, keepdims=True), jax.nn.logsumexp(x, (1, 2)), jnp.linalg.norm(x, axis=(0, 1)), m.min(), n.astype(jnp.uint8).mean(0),
            lax.reduce(m, jnp.int32(-1), lax.bitwise_and, (1,)), lax.reduce((x, x), (0.0, 1.0), lambda a, b: (a[0] + b[0], a[1] * b[1]), (0, 3)))


@program(bf16(6, 9), f16(6, 9), i8(6, 9), u8(6, 9), boolean(6, 9), i16(6, 9))
def mixed_small_types(b, h, s, u, f, n):
    return (b + s.astype(jnp.bfloat16), h * u, s + u, f * h, (s // 7), u >> 2, s % 5, n * s, jnp.where(f, b, h.astype(jnp.bfloat16)), jnp.maximum(n, s), ~s, ~f, u - jnp.uint8(200),
            h.astype(jnp.int8), jnp.clip(b.astype(jnp.float32) * 100, -128, 127).astype(jnp.int8), jnp.abs(s), -u, lax.population_count(u), lax.clz(n), u.astype(jnp.bfloat16) / 3)


@program(i64(20), u64(20), f64(20), i32(20), f32(20), x64=True)
def mixed_wide_types(a, b, c, d, e):
    return (a * d, a // 7, a % -7, b >> jnp.uint64(3), b // jnp.uint64(5), c * a, jnp.float32(2) * e + c, c.astype(jnp.int64), (a.astype(jnp.float64) ** 3).sum(), jnp.cumsum(a), c @ c, b * b * b * b * b,
            lax.shift_right_arithmetic(a, jnp.int64(2)), a.astype(jnp.int8), jnp.bitwise_xor(a, jnp.int64(0x123456789ABCDEF)), jnp.sort(a), jnp.argmax(c))


@program(u32(2), i32(low=0, high=99))
def random_by_threefry(key, fold):
    key = jax.random.fold_in(key, fold)
    a, b, c = jax.random.split(key, 3)
    return (jax.random.bits(a, (7, 3)), jax.random.randint(b, (40,), -5, 17), jax.random.truncated_normal(c, -1, 2, (30,)), jax.random.gamma(a, 2.5, (5,)), jax.random.choice(b, 20, (6,), replace=False),
            jax.random.bernoulli(c, 0.3, (3, 9)), jax.random.gumbel(a, (4, 4)), jax.random.bits(a, (5,), jnp.uint8), jax.random.laplace(b, (9,)), jax.random.dirichlet(c, jnp.ones(4) * 2))


@program(u32(4))
def random_by_rbg(key):
    key = jax.random.wrap_key_data(key, impl="rbg")
    return jax.random.normal(key, (3, 5)).shape[0] + jnp.zeros(2), jax.random.uniform(key, (6,)) < 2


@program(f32(5, 5), f32(5, 3), f32(7, 4), libraries=("lapack",))
def linear_algebra(a, b, tall):
    positive = a @ a.T + 5 * jnp.eye(5)
    q, r = jnp.linalg.qr(tall)
    return (jnp.linalg.cholesky(positive), jnp.linalg.solve(a + 4 * jnp.eye(5), b), jnp.abs(q), jnp.abs(r), jnp.linalg.svd(tall, compute_uv=False), jnp.linalg.det(a), jnp.linalg.inv(positive),
            jnp.linalg.eigvalsh(positive), jnp.linalg.slogdet(positive), jnp.linalg.pinv(tall), jnp.linalg.matrix_power(a, 3), jax.scipy.linalg.cho_solve((jnp.linalg.cholesky(positive), True), b))


@program(f32(3, 24), c64(3, 15), f32(4, 6, 8), libraries=("fft",))
def transforms_and_angles(x, z, cube):
    return (jnp.fft.fft(z), jnp.fft.rfft(x), jnp.fft.irfft(jnp.fft.rfft(x), 24), jnp.abs(jnp.fft.fftn(cube)), jnp.fft.fftshift(jnp.fft.ifft2(cube).real), jnp.angle(z), z * jnp.conj(z), jnp.exp(z),
            jnp.sqrt(z), z ** 2 / (1 + z), jnp.real(z @ z.T), jnp.fft.hfft(z), (z.sum(1), z.prod(0)))


@program(f32(6), f32(4, 6))
def jacobians_and_hessians(x, w):
    def f(x):
        return jnp.tanh(w @ x) * x[:4] ** 2

    def scalar(x):
        return jnp.log1p((f(x) ** 2).sum())

    return jax.jacfwd(f)(x), jax.jacrev(f)(x), jax.hessian(scalar)(x), jax.jvp(scalar, (x,), (jnp.ones(6),)), jax.linearize(f, x)[1](x)


@jax.custom_vjp
def _clipped(x):
    return x * x


_clipped.defvjp(lambda x: (x * x, x), lambda x, g: (jnp.clip(2 * x * g, -0.5, 0.5),))


@program(f32(16, 8), f32(8, 8), tolerance=1e-4)
def custom_gradients_and_checkpoints(x, w):
    @jax.checkpoint
    def layer(x, w):
        return _clipped(jnp.sin(x @ w)) + x

    def loss(w):
        return lax.scan(lambda x, _: (layer(x, w), None), x, None, length=3)[0].sum()

    return jax.value_and_grad(loss)(w)


@program(f32(5, 12), f32(12, 7), sizes=("b, 12", None))
def dynamic_batch(x, w):
    h = jax.nn.softmax(x @ w)
    return h, h.sum(0), jnp.argmax(h, 1), jnp.concatenate([h, x], 1), (h * h).mean(), x[::-1], x.reshape(-1, 3, 4).transpose(1, 0, 2), h - h.mean(0), jnp.pad(x, ((1, 2), (0, 0)))


@program(f32(0, 4), f32(3, 0), i32(0))
def nothing_at_all(a, b, n):
    return a.sum(0), b @ jnp.zeros((0, 5)), jnp.concatenate([a, jnp.ones((2, 4))]), jnp.sort(a, 0), a.T @ a, b.max(0) if b.shape[0] else b, jnp.cumsum(n), jnp.zeros((5,)).at[n].add(1.0), a[:, :2] * 2


@program(i32(33, low=0, high=12), f32(12, 5), f32(33, 5))
def one_hot_and_confusion(labels, table, x):
    hot = jax.nn.one_hot(labels, 12)
    return hot @ table, hot.T @ hot, jnp.zeros((12, 12), jnp.int32).at[labels, labels[::-1]].add(1), jax.nn.one_hot(labels % 3, 3, dtype=jnp.int8, axis=0), -(jax.nn.log_softmax(x @ table.T) * hot).sum(-1)


@program(f32(2, 6, 16, 8), f32(2, 3, 1, 8), i32(2, low=0, high=15), f32(2, 3, 16, 8), donate=(3,))
def caches_in_the_middle(q, k, position, keys):
    keys = jax.vmap(lambda c, n, p: lax.dynamic_update_slice(c, n, (0, p, 0)))(keys, k, position)
    scores = jnp.einsum("bgrqd,bgkd->bgrqk", q.reshape(2, 3, 2, 16, 8), keys)
    visible = jnp.arange(16)[None] <= position[:, None]
    return jax.nn.softmax(jnp.where(visible[:, None, None, None], scores, -1e9), -1), keys


@program(f32(40, 2), f32(5, 2))
def k_means(points, centres):
    def step(centres, _):
        near = jnp.argmin(((points[:, None] - centres[None]) ** 2).sum(-1), 1)
        total = jax.ops.segment_sum(points, near, 5)
        count = jax.ops.segment_sum(jnp.ones(40), near, 5)
        return jnp.where(count[:, None] > 0, total / jnp.maximum(count, 1)[:, None], centres), near

    return lax.scan(step, centres, length=4)


@program(i32(2, 9, low=0, high=5), f32(6, 20))
def beam_search(tokens, table):
    def step(state, t):
        scores, path = state
        rows = jax.nn.log_softmax(table[path[:, -1] % 6])
        best, at = lax.top_k((scores[:, None] + rows).reshape(-1), 4)
        return (best, jnp.concatenate([path[at // 20, 1:], (at % 20)[:, None].astype(jnp.int32)], 1)), best

    return lax.scan(step, (jnp.array([0.0, -1, -2, -3]), jnp.concatenate([tokens, tokens + 1])[:, :4]), jnp.arange(5))


@program(f32(12, 9), f32(4, 3))
def pictures(x, kernel):
    y = jax.image.resize(x, (7, 15), "bicubic")
    patches = lax.conv_general_dilated_patches(x[None, None], (3, 3), (2, 2), "SAME")
    return y, patches, jax.scipy.signal.convolve2d(x, kernel, mode="same"), jax.scipy.ndimage.map_coordinates(x, [jnp.linspace(0, 11, 8), jnp.linspace(0, 8, 8)], 1), jnp.rot90(x), jnp.tril(x, 2), jnp.kron(x[:2, :2], kernel)


@program(f32(20), f32(20), np.float32(0.3))
def functions_of_numbers(x, y, p):
    positive = jnp.abs(x) + 0.1
    return (jax.scipy.special.gammaln(positive), jax.scipy.special.digamma(positive), jax.scipy.special.erfinv(jnp.tanh(x)), jnp.arctan2(x, y), jnp.hypot(x, y), jnp.fmod(x, y), jnp.remainder(x, y), jnp.sinc(x),
            jnp.nextafter(x, y), jnp.cbrt(x), jax.scipy.stats.norm.cdf(x), jax.nn.gelu(x, approximate=False), jnp.round(x * 10), jnp.trunc(x * 3), jnp.float_power(positive, p), jnp.logaddexp(x, y), jnp.frexp(x)[0],
            jax.scipy.special.betainc(positive, 0.5, 0.3), jax.scipy.special.i0e(x), jnp.interp(x, jnp.sort(y), jnp.arange(20.0)), jnp.polyval(x[:4], y))
