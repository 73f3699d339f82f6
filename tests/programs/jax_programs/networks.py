"""Networks as people write them: whole blocks of many kinds, forward and backward."""
import functools

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from .registry import bf16, boolean, f16, f32, i32, program


def norm(x, axis=-1):
    return (x - x.mean(axis, keepdims=True)) * lax.rsqrt(x.var(axis, keepdims=True) + 1e-5)


def rms(x, scale):
    return x * lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-6) * scale


def with_gradient(forward):
    """What comes out, and the gradient of a number that is made of it by all arguments that are floats."""
    @functools.wraps(forward)
    def both(*arguments):
        floats = tuple(i for i, each in enumerate(arguments) if jnp.issubdtype(each.dtype, jnp.floating))

        def loss(*arguments):
            out = forward(*arguments)
            return sum(jnp.sum(jnp.sin(leaf.astype(jnp.float32))) for leaf in jax.tree.leaves(out) if jnp.issubdtype(leaf.dtype, jnp.floating))

        return forward(*arguments), jax.grad(loss, floats)(*arguments)

    return both


@program(f32(2, 16, 12), f32(16, 20), f32(20, 16), f32(12, 24), f32(24, 12), tolerance=1e-4)
@with_gradient
def mlp_mixer_block(x, t0, t1, c0, c1):
    y = jnp.swapaxes(norm(x), 1, 2)
    x = x + jnp.swapaxes(jax.nn.gelu(y @ t0) @ t1, 1, 2)
    return x + jax.nn.gelu(norm(x) @ c0) @ c1


@program(f32(2, 16, 16, 3), f32(4 * 4 * 3, 24), f32(17, 24), f32(24), f32(24, 72), f32(24, 24), f32(24, 10), tolerance=1e-4)
@with_gradient
def vision_transformer(image, patch, places, token, qkv, out, head):
    b, h, w, c = image.shape
    x = image.reshape(b, h // 4, 4, w // 4, 4, c).transpose(0, 1, 3, 2, 4, 5).reshape(b, -1, 48) @ patch
    x = jnp.concatenate([jnp.broadcast_to(token, (b, 1, 24)), x], 1) + places
    q, k, v = jnp.split(norm(x) @ qkv, 3, -1)
    q, k, v = (y.reshape(b, 17, 3, 8) for y in (q, k, v))
    weights = jax.nn.softmax(jnp.einsum("bqhd,bkhd->bhqk", q, k) / np.sqrt(8), -1)
    x = x + jnp.einsum("bhqk,bkhd->bqhd", weights, v).reshape(b, 17, 24) @ out
    return jax.nn.log_softmax(norm(x[:, 0]) @ head)


@program(f32(2, 9, 9, 6), f32(1, 1, 6, 4), f32(3, 3, 4, 4), f32(1, 1, 4, 12), f32(1, 1, 6, 12), tolerance=2e-4)
@with_gradient
def bottleneck_of_stride_two(x, w0, w1, w2, skip):
    conv = functools.partial(lax.conv_general_dilated, dimension_numbers=("NHWC", "HWIO", "NHWC"), padding="SAME")

    def bn(y):
        return norm(y, (0, 1, 2))

    y = jax.nn.relu(bn(conv(x, w0, (1, 1))))
    y = jax.nn.relu(bn(conv(y, w1, (2, 2))))
    return jax.nn.relu(bn(conv(y, w2, (1, 1))) + bn(conv(x, skip, (2, 2))))


@program(f32(1, 8, 8, 4), f32(3, 3, 4, 8), f32(3, 3, 8, 8), f32(2, 2, 8, 4), f32(3, 3, 8, 4), f32(1), f32(8, 8), tolerance=2e-4)
@with_gradient
def unet_with_time(x, down, middle, up, last, t, embed):
    conv = functools.partial(lax.conv_general_dilated, window_strides=(1, 1), dimension_numbers=("NHWC", "HWIO", "NHWC"), padding="SAME")
    angles = t[:, None] * jnp.exp(-jnp.arange(4.0))
    time = jnp.concatenate([jnp.sin(angles), jnp.cos(angles)], -1) @ embed
    a = jax.nn.silu(conv(x, down) + time[:, None, None, :])
    pooled = lax.reduce_window(a, 0.0, lax.add, (1, 2, 2, 1), (1, 2, 2, 1), "VALID") / 4
    groups = norm(pooled.reshape(1, 4, 4, 2, 4), (1, 2, 4)).reshape(1, 4, 4, 8)
    b = jax.nn.silu(conv(groups, middle))
    c = lax.conv_transpose(b, up, (2, 2), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
    return conv(jnp.concatenate([c, x], -1), last)


@program(f32(7, 3, 5), f32(5, 24), f32(6, 24), f32(24), f32(5, 24), f32(6, 24), tolerance=1e-4)
@with_gradient
def lstm_of_two_directions(xs, w, u, b, w2, u2):
    def cell(w, u, state, x):
        h, c = state
        i, f, g, o = jnp.split(x @ w + h @ u + b, 4, -1)
        c = jax.nn.sigmoid(f + 1) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        h = jax.nn.sigmoid(o) * jnp.tanh(c)
        return (h, c), h

    zero = (jnp.zeros((3, 6)), jnp.zeros((3, 6)))
    (last, _), forth = lax.scan(functools.partial(cell, w, u), zero, xs)
    _, back = lax.scan(functools.partial(cell, w2, u2), zero, xs, reverse=True, unroll=2)
    return last, jnp.concatenate([forth, back], -1)


@program(f32(2, 12, 6), f32(6, 8), f32(6, 4), f32(6, 4), f32(8, 4, low=0.1, high=1), f32(4, 8), tolerance=2e-4)
@with_gradient
def mamba_block(x, w_in, w_b, w_c, a, conv):
    x = 0.2 * x
    u = x @ w_in
    padded = jnp.pad(u, ((0, 0), (3, 0), (0, 0)))
    u = jax.nn.silu(sum(padded[:, i:i + 12] * conv[i] for i in range(4)))
    delta = jax.nn.softplus(u)
    b, c = x @ w_b, x @ w_c
    decay = jnp.exp(-delta[..., None] * a)
    drive = (delta * u)[..., None] * b[:, :, None, :]
    _, h = lax.associative_scan(lambda p, q: (p[0] * q[0], p[1] * q[0] + q[1]), (decay, drive), axis=1)
    return jnp.einsum("btdn,btn->btd", h, c) + u


@program(f32(12, 8), f32(8, 4), f32(4, 8, 16), f32(4, 16, 8), tolerance=1e-4)
@with_gradient
def experts_of_two_with_capacity(x, gate, w0, w1):
    probabilities = jax.nn.softmax(x @ gate)
    weights, which = lax.top_k(probabilities, 2)
    weights = weights / weights.sum(-1, keepdims=True)
    hot = jax.nn.one_hot(which, 4)
    place = jnp.cumsum(hot.reshape(24, 4), 0).reshape(12, 2, 4) * hot - 1
    slots = jax.nn.one_hot(place, 8) * hot[..., None]
    dispatch = slots.sum(1)
    inside = jnp.einsum("tec,td->ecd", dispatch, x)
    out = jnp.einsum("ecf,efd->ecd", jax.nn.relu(jnp.einsum("ecd,edf->ecf", inside, w0)), w1)
    balance = 4 * jnp.sum(hot.mean((0, 1)) * probabilities.mean(0))
    return jnp.einsum("tkec,tk,ecd->td", slots, weights, out), balance


@program(f32(10, 8), f32(8, 3), f32(3, 8, 8), tolerance=1e-4)
@with_gradient
def experts_sorted_by_ragged_dot(x, gate, w):
    which = jnp.argmax(x @ gate, -1)
    order = jnp.argsort(which)
    sizes = jnp.bincount(which, length=3).astype(jnp.int32)
    y = lax.ragged_dot(x[order], w, sizes)
    return jnp.zeros_like(y).at[order].set(y)


@program(f32(2, 5, 8, 4), f32(2, 9, 2, 4), f32(2, 9, 2, 4), f32(2, 5, 2, 4), f32(2, 5, 2, 4), i32(low=2, high=4), tolerance=1e-4)
@with_gradient
def grouped_attention_with_cache(q, keys, values, k, v, position):
    def rotary(x, at):
        angle = at[:, None, None] * 10000 ** (-jnp.arange(2) / 2.0)
        a, b = x[..., ::2], x[..., 1::2]
        return jnp.stack([a * jnp.cos(angle) - b * jnp.sin(angle), a * jnp.sin(angle) + b * jnp.cos(angle)], -1).reshape(x.shape)

    at = position + jnp.arange(5)
    q, k = rotary(q, at), rotary(k, at)
    keys = lax.dynamic_update_slice(keys, k, (0, position, 0, 0))
    values = lax.dynamic_update_slice_in_dim(values, v, position, 1)
    scores = jnp.einsum("bqhgd,bkhd->bhgqk", q.reshape(2, 5, 2, 4, 4), keys) / 2
    seen = jnp.arange(9) <= at[:, None]
    scores = jnp.where(seen, scores, jnp.finfo(jnp.float32).min)
    return jnp.einsum("bhgqk,bkhd->bqhgd", jax.nn.softmax(scores, -1), values).reshape(2, 5, 32), keys, values


@program(f32(2, 7, 2, 4), f32(2, 9, 2, 4), f32(2, 9, 2, 4), boolean(2, 1, 7, 9), f32(2, 7, 9), tolerance=1e-4)
@with_gradient
def attention_of_jax_nn(q, k, v, mask, bias):
    mask = mask.at[..., 0].set(True)
    return (jax.nn.dot_product_attention(q, k, v, mask=mask), jax.nn.dot_product_attention(q, q, q, is_causal=True),
            jax.nn.dot_product_attention(q, k, v, bias[None]), jax.nn.dot_product_attention(q, q, q, local_window_size=(2, 1)),
            jax.nn.dot_product_attention(q, k, v, key_value_seq_lengths=jnp.array([4, 9], jnp.int32)))


@program(f32(2, 12, 2, 4), f32(2, 12, 2, 4), f32(2, 12, 2, 4), tolerance=1e-4)
@with_gradient
def attention_by_blocks(q, k, v):
    def step(state, block):
        top, total, out = state
        kb, vb = block
        s = jnp.einsum("bqhd,bkhd->bhqk", q, kb) / 2
        new = jnp.maximum(top, s.max(-1))
        p = jnp.exp(s - new[..., None])
        fix = jnp.exp(top - new)
        return (new, total * fix + p.sum(-1), out * fix[..., None] + jnp.einsum("bhqk,bkhd->bhqd", p, vb)), None

    blocks = tuple(x.reshape(2, 3, 4, 2, 4).swapaxes(0, 1) for x in (k, v))
    start = (jnp.full((2, 2, 12), -jnp.inf), jnp.zeros((2, 2, 12)), jnp.zeros((2, 2, 12, 4)))
    (_, total, out), _ = lax.scan(jax.checkpoint(step), start, blocks)
    return out / total[..., None]


@program(f32(6, 5), i32(14, low=0, high=6), i32(14, low=0, high=6), f32(14), f32(5, 8), f32(8), f32(8), tolerance=1e-4)
@with_gradient
def graph_attention(nodes, source, target, edge, w, left, right):
    h = nodes @ w
    score = jax.nn.leaky_relu(h[source] @ left + h[target] @ right + edge)
    top = jax.ops.segment_max(score, target, 6)
    weight = jnp.exp(score - top[target])
    weight = weight / jax.ops.segment_sum(weight, target, 6)[target]
    out = jax.ops.segment_sum(h[source] * weight[:, None], target, num_segments=6)
    degree = jax.ops.segment_sum(jnp.ones(14), target, 6)
    return jax.nn.elu(out), out / jnp.maximum(degree, 1)[:, None]


@program(f32(2, 10, 6), i32(2, 4, low=1, high=6), tolerance=1e-4)
@with_gradient
def ctc_loss(logits, labels):
    log = jax.nn.log_softmax(logits)
    blank = jnp.zeros((2, 9), jnp.int32).at[:, 1::2].set(labels)
    emit = jnp.take_along_axis(log, blank[:, None, :].repeat(10, 1), 2)
    same = jnp.concatenate([jnp.ones((2, 2), bool), blank[:, 2:] == blank[:, :-2]], 1)
    low = -1e9

    def step(alpha, e):
        one = jnp.pad(alpha, ((0, 0), (1, 0)), constant_values=low)[:, :-1]
        two = jnp.where(same, low, jnp.pad(alpha, ((0, 0), (2, 0)), constant_values=low)[:, :-2])
        return jax.nn.logsumexp(jnp.stack([alpha, one, two]), axis=0) + e, None

    first = jnp.full((2, 9), low).at[:, :2].set(emit[:, 0, :2])
    last, _ = lax.scan(step, first, emit[:, 1:].swapaxes(0, 1))
    return -jnp.logaddexp(last[:, -1], last[:, -2])


@program(f32(11, 5), f32(5, 5), f32(5))
def viterbi(emissions, moves, start):
    def forward(score, e):
        all_moves = score[:, None] + moves
        return all_moves.max(0) + e, all_moves.argmax(0)

    score, back = lax.scan(forward, start + emissions[0], emissions[1:])
    last = score.argmax()

    def backward(state, pointers):
        return pointers[state], pointers[state]

    _, path = lax.scan(backward, last, back, reverse=True)
    return jnp.concatenate([path, last[None]]), score.max()


@program(f32(2, 6), f32(9, 6), f32(6, 6), f32(6, 9))
def beams_with_ends(state, embedding, w, out):
    beams, length = 3, 5

    def step(carry, t):
        tokens, scores, hidden, done = carry
        hidden = jnp.tanh(embedding[lax.dynamic_index_in_dim(tokens, t, 2, keepdims=False)] + hidden @ w)
        log = jax.nn.log_softmax(hidden @ out)
        log = jnp.where(done[..., None], jnp.where(jnp.arange(9) == 0, 0.0, -jnp.inf), log)
        best, flat = lax.top_k((scores[..., None] + log).reshape(2, -1), beams)
        beam, token = flat // 9, flat % 9
        tokens = jnp.take_along_axis(tokens, beam[..., None], 1).at[:, :, t + 1].set(token)
        hidden = jnp.take_along_axis(hidden, beam[..., None], 1)
        done = jnp.take_along_axis(done, beam, 1) | (token == 0)
        return (tokens, best, hidden, done), best

    start = (jnp.ones((2, beams, length + 1), jnp.int32), jnp.tile(jnp.array([0.0, -1e9, -1e9]), (2, 1)),
             jnp.repeat(state[:, None], beams, 1), jnp.zeros((2, beams), bool))
    (tokens, scores, _, done), history = lax.scan(step, start, jnp.arange(length))
    return tokens, scores, done, history


@program(f32(3, 8), f32(), f32(8, 16), f32(16, 8), f32(3, 8), tolerance=1e-4)
@with_gradient
def diffusion_step(x, t, w0, w1, noise):
    betas = jnp.linspace(1e-4, 0.02, 50)
    kept = jnp.cumprod(1 - betas)
    i = jnp.clip(jnp.floor(jnp.abs(t) * 50), 0, 49).astype(jnp.int32)
    guess = jax.nn.silu(x @ w0) @ w1
    clean = (x - jnp.sqrt(1 - kept[i]) * guess) / jnp.sqrt(kept[i])
    clean = jnp.clip(clean, -1, 1)
    before = jnp.where(i > 0, kept[i - 1], 1.0)
    mean = jnp.sqrt(before) * betas[i] / (1 - kept[i]) * clean + jnp.sqrt(1 - betas[i]) * (1 - before) / (1 - kept[i]) * x
    return mean + jnp.sqrt(betas[i] * (1 - before) / (1 - kept[i])) * noise * (i > 0)


@program(f32(5, 6), f32(3, 3, 8), f32(3, 8, 6), tolerance=1e-4)
@with_gradient
def coupling_flow(x, w0, w1):
    total = jnp.zeros(5)
    for i in range(3):
        a, b = jnp.split(x, 2, -1) if i % 2 == 0 else jnp.split(x, 2, -1)[::-1]
        log, shift = jnp.split(jnp.tanh(a @ w0[i]) @ w1[i], 2, -1)
        log = 2 * jnp.tanh(log / 2)
        b = b * jnp.exp(log) + shift
        total = total + log.sum(-1)
        x = jnp.concatenate([a, b] if i % 2 == 0 else [b, a], -1)[:, ::-1]
    return x, total - 0.5 * (x ** 2).sum(-1) - 3 * jnp.log(2 * jnp.pi)


@program(f32(4, 10), f32(4, 3), f32(10, 8), f32(3, 6), f32(3, 10), tolerance=1e-4)
@with_gradient
def variational_autoencoder(x, noise, encode, decode_0, decode_1):
    h = jax.nn.elu(x @ encode)
    mean, log = h[:, :3], jnp.clip(h[:, 3:6], -5, 5)
    z = mean + jnp.exp(log / 2) * noise
    out = jax.nn.softplus(z @ decode_0)[:, :3] @ decode_1
    seen = jnp.where(out >= 0, out, 0) - out * jax.nn.sigmoid(x) + jnp.log1p(jnp.exp(-jnp.abs(out)))
    return seen.sum(-1).mean(), -0.5 * jnp.sum(1 + log - mean ** 2 - jnp.exp(log), -1).mean()


@program(f32(8, 3), f32(8, 3), f32(8))
def nerf_render(origin, direction, far):
    direction = direction / jnp.linalg.norm(direction, axis=-1, keepdims=True)
    depth = jnp.linspace(0.0, 1.0, 9)[None] * (1 + jnp.abs(far)[:, None])
    points = origin[:, None] + depth[..., None] * direction[:, None]
    encoded = jnp.concatenate([f(points * 2.0 ** i) for i in range(3) for f in (jnp.sin, jnp.cos)], -1)
    density = jax.nn.relu(encoded.sum(-1))
    gap = jnp.concatenate([jnp.diff(depth, axis=-1), jnp.full((8, 1), 1e3)], -1)
    alpha = 1 - jnp.exp(-density * gap)
    clear = jnp.cumprod(jnp.concatenate([jnp.ones((8, 1)), 1 - alpha[:, :-1] + 1e-10], -1), -1)
    weights = alpha * clear
    return jnp.einsum("rs,rsc->rc", weights, jax.nn.sigmoid(encoded[..., :3])), weights.sum(-1), (weights * depth).sum(-1)


@program(f16(2, 6, 16), f16(16, 48), f16(16, 16), f16(16), f16(16, 40), f16(20, 16), tolerance=2e-2)
def llama_block_in_f16(x, qkv, out, scale, up, down):
    def normed(x):
        y = x.astype(jnp.float32)
        return (y * lax.rsqrt(jnp.mean(y * y, -1, keepdims=True) + 1e-6)).astype(x.dtype) * scale

    q, k, v = jnp.split((normed(x) @ qkv).reshape(2, 6, 4, 12), 3, -1)
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k, preferred_element_type=jnp.float32) / 2
    scores = jnp.where(jnp.tril(jnp.ones((6, 6), bool)), scores, -jnp.inf)
    x = x + jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores).astype(x.dtype), v).reshape(2, 6, 16) @ out
    gate, value = jnp.split(normed(x) @ up, 2, -1)
    return x + (jax.nn.silu(gate) * value) @ down


@program(bf16(4, 6, 8), bf16(3, 8, 8), bf16(3, 8), tolerance=6e-2)
def layers_by_scan_in_bf16(x, ws, scales):
    def layer(x, parameters):
        w, scale = parameters
        y = rms(x.astype(jnp.float32), scale.astype(jnp.float32)).astype(jnp.bfloat16)
        return x + jnp.tanh(y @ w), jnp.float32(0) + jnp.mean(x.astype(jnp.float32))

    return lax.scan(jax.checkpoint(layer), x, (ws, scales))


@program(f32(2, 8, 8, 6), f32(3, 3, 1, 12), f32(12, 3), f32(3, 12), f32(12, 6), tolerance=2e-4)
@with_gradient
def mobile_block_with_squeeze(x, depthwise, squeeze, excite, project):
    y = lax.conv_general_dilated(x, depthwise, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"), feature_group_count=6)
    y = jax.nn.hard_swish(norm(y, (0, 1, 2)))
    s = jax.nn.hard_sigmoid(jax.nn.relu6(y.mean((1, 2)) @ squeeze) @ excite)
    return x + (y * s[:, None, None]) @ project


@program(f32(2, 20), f32(4, 1, 3), f32(3, 4, 4, 2), f32(6), tolerance=1e-4)
@with_gradient
def wavenet_stack(x, first, layers, head):
    x = lax.conv_general_dilated(x[:, None], first, (1,), [(2, 0)], dimension_numbers=("NCW", "OIW", "NCW"))
    skips = 0
    for i in range(3):
        y = lax.conv_general_dilated(x, layers[i], (1,), [(2 ** i, 0)], rhs_dilation=(2 ** i,), dimension_numbers=("NCW", "OIW", "NCW"))
        y = jnp.tanh(y) * jax.nn.sigmoid(y)
        skips, x = skips + y, x + y
    return jnp.einsum("bcw,c->bw", skips, head[:4])


@program(f32(3, 5, 4), f32(3, 7, 4), i32(3, low=1, high=6), f32(4, 4))
def bidirectional_attention_of_lengths(a, b, lengths, w):
    s = jnp.einsum("bik,kl,bjl->bij", a, w, b)
    keep = jnp.arange(5)[None] < lengths[:, None]
    s = jnp.where(keep[..., None], s, -1e30)
    forth, back = jax.nn.softmax(s, 2), jax.nn.softmax(s, 1, where=keep[..., None])
    return jnp.where(keep[..., None], forth @ b, 0), jnp.swapaxes(back, 1, 2) @ a, jnp.where(keep, s.max(-1), 0).sum(-1) / lengths


@program(f32(6, 4), f32(6, 4), f32(), tolerance=1e-4)
@with_gradient
def contrastive_pairs(a, b, scale):
    a, b = (x / jnp.linalg.norm(x, axis=1, keepdims=True) for x in (a, b))
    logits = a @ b.T * jnp.exp(scale)
    labels = jnp.arange(6)
    one = -jnp.take_along_axis(jax.nn.log_softmax(logits), labels[:, None], 1).mean()
    other = -jax.nn.log_softmax(logits.T)[labels, labels].mean()
    distances = jnp.sqrt(jnp.maximum(((a[:, None] - b[None]) ** 2).sum(-1), 1e-9))
    triplet = jnp.maximum(0.0, distances.diagonal() - jnp.where(jnp.eye(6, dtype=bool), jnp.inf, distances).min(1) + 0.2).mean()
    return (one + other) / 2, triplet


@program(f32(2, 3, 8, 8), f32(2, 6, 3, low=0, high=7), tolerance=1e-4)
@with_gradient
def sampled_at_places(features, boxes):
    def one(feature, places):
        def channel(f):
            return jax.scipy.ndimage.map_coordinates(f, [places[:, 0], places[:, 1]], order=1, mode="nearest")

        return jax.vmap(channel)(feature)

    return jax.vmap(one)(features, boxes)


@program(f32(20, 4, low=0, high=10), f32(20))
def boxes_without_overlaps(corners, scores):
    low, high = jnp.minimum(corners[:, :2], corners[:, 2:]), jnp.maximum(corners[:, :2], corners[:, 2:])
    order = jnp.argsort(-scores)
    low, high = low[order], high[order]
    inner = jnp.clip(jnp.minimum(high[:, None], high[None]) - jnp.maximum(low[:, None], low[None]), 0).prod(-1)
    area = (high - low).prod(-1)
    overlap = inner / (area[:, None] + area[None] - inner)

    def step(i, keep):
        return jnp.where(keep[i], keep & ((overlap[i] < 0.3) | (jnp.arange(20) <= i)), keep)

    keep = lax.fori_loop(0, 20, step, jnp.ones(20, bool))
    return keep, jnp.where(keep, scores[order], -jnp.inf), jnp.nonzero(keep, size=20, fill_value=-1)[0]


@program(f32(9, 4), f32(9), f32(5, 4), tolerance=1e-3)
def gaussian_process(x, y, z):
    def kernel(a, b):
        return jnp.exp(-0.5 * ((a[:, None] - b[None]) ** 2).sum(-1))

    factor = jax.scipy.linalg.cho_factor(kernel(x, x) + 0.1 * jnp.eye(9), lower=True)
    weights = jax.scipy.linalg.cho_solve(factor, y)
    half = jax.scipy.linalg.solve_triangular(factor[0], kernel(x, z), lower=True)
    return kernel(z, x) @ weights, kernel(z, z) - half.T @ half, jnp.log(jnp.diagonal(factor[0])).sum()


@program(f32(12, 3), f32(3, 3), f32(12, 2), f32(2, 3), tolerance=1e-3)
def kalman_filter(observed, moves, inputs, drive):
    moves = 0.3 * moves

    def step(state, now):
        mean, cov = state
        z, u = now
        mean, cov = moves @ mean + u @ drive, moves @ cov @ moves.T + 0.1 * jnp.eye(3)
        gain = jnp.linalg.solve(cov + 0.5 * jnp.eye(3), cov).T
        mean = mean + gain @ (z - mean)
        cov = (jnp.eye(3) - gain) @ cov
        return (mean, cov), (mean, jnp.trace(cov))

    return lax.scan(step, (jnp.zeros(3), jnp.eye(3)), (observed, inputs))


@program(f32(4, 4), f32(4), f32(4))
def lax_custom_root(a, b, x):
    a = a @ a.T + 4 * jnp.eye(4)
    solved = lax.custom_linear_solve(lambda v: a @ v, b, lambda f, r: jax.scipy.sparse.linalg.cg(f, r)[0], symmetric=True)
    root = lax.custom_root(lambda y: y ** 3 + y - x, jnp.zeros(4), lambda f, y: lax.fori_loop(0, 30, lambda _, y: y - f(y) / (3 * y ** 2 + 1), y), lambda g, r: r / g(jnp.ones(4)))
    return solved, root, jax.grad(lambda x: jnp.sum(lax.custom_root(lambda y: y ** 3 + y - x, jnp.zeros(4), lambda f, y: lax.fori_loop(0, 30, lambda _, y: y - f(y) / (3 * y ** 2 + 1), y), lambda g, r: r / g(jnp.ones(4)))))(x)


@program(f32(3), f32(3))
def ode_by_adaptive_steps(y, a):
    def field(y, t):
        return jnp.stack([y[1] * y[2], -y[0] * y[2], -0.51 * y[0] * y[1]]) * jnp.tanh(a)

    def body(state):
        y, t, h, n = state
        k1 = field(y, t)
        k2 = field(y + h * k1 / 2, t)
        k3 = field(y + 3 * h * k2 / 4, t)
        new = y + h * (2 * k1 + 3 * k2 + 4 * k3) / 9
        wrong = jnp.abs(new - (y + h * (7 * k1 / 24 + k2 / 4 + k3 / 3 + field(new, t) / 8))).max() + 1e-10
        good = wrong < 1e-3
        return jnp.where(good, new, y), jnp.where(good, t + h, t), jnp.minimum(h * jnp.clip(0.9 * (1e-3 / wrong) ** (1 / 3), 0.2, 5), 1.0 - jnp.where(good, t + h, t) + 1e-9), n + 1

    y, t, _, n = lax.while_loop(lambda s: (s[1] < 1.0) & (s[3] < 100), body, (y, jnp.float32(0), jnp.float32(0.1), 0))
    return y, t


@program(f32(2, 3, 3, 16), f32(1, 2, 2, 16), f32(2, 3, 4, 16), f32(1, 1, 16, 256), f32(1, 1, 16, 5), tolerance=1e-5)
def single_taps_of_few_places(square, tiny, oblong, wide, narrow):
    """Strides leave places of the image unread: as many rows of a product as it has places, and not side by side in memory."""
    return [lax.conv_general_dilated(image, taps, (stride, stride), "VALID", dimension_numbers=("NHWC", "HWIO", "NHWC"))
            for image in (square, tiny, oblong) for taps in (wide, narrow) for stride in (1, 2, 3)]


@program(f32(2, 100, 64, 16), f32(2, 100, 64, 16), f32(2, 100, 16), f32(300, 1023), f32(1023), f32(2, 70000), f32(70000), tolerance=1e-5)
def vectors_and_matrices_that_are_made(a, b, v, c, w, long, x):
    """What is made for a product is read once, row by row, and finds room in a workgroup's memory."""
    return (jnp.einsum("blen,bln->ble", a * b + a, v), (c + 1.5) @ w, jnp.exp(-jnp.abs(c)) @ w, (long * 2 + 1) @ x,
            w @ jnp.sin(c.T), (jnp.tanh(a) @ v[..., None])[..., 0])
