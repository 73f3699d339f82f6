"""Models as people write them, small: dense, convolutional, recurrent, attention."""
import jax
import jax.numpy as jnp
from jax import lax

from .registry import f32, i32, program


def layer_norm(x, scale, shift):
    mean = x.mean(-1, keepdims=True)
    return (x - mean) * lax.rsqrt(x.var(-1, keepdims=True) + 1e-5) * scale + shift


@program(f32(8, 32), f32(32, 64), f32(64), f32(64, 10), f32(10))
def mlp(x, w0, b0, w1, b1):
    return jax.nn.log_softmax(jax.nn.relu(x @ w0 + b0) @ w1 + b1)


def conv(x, w, stride=1, groups=1, padding="SAME"):
    return lax.conv_general_dilated(x, w, (stride, stride), padding, dimension_numbers=("NHWC", "HWIO", "NHWC"), feature_group_count=groups)


@program(f32(2, 12, 12, 3), f32(3, 3, 3, 8), f32(3, 3, 8, 8), f32(72, 5))
def cnn(x, w0, w1, head):
    x = jax.nn.relu(conv(x, w0))
    x = lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
    x = jax.nn.relu(conv(x, w1, stride=2))
    return x.reshape(2, -1) @ head


@program(f32(1, 10, 10, 16), f32(1, 1, 16, 8), f32(3, 3, 8, 8), f32(1, 1, 8, 16), f32(16), f32(16))
def resnet_block(x, w0, w1, w2, scale, shift):
    y = jax.nn.relu(conv(x, w0))
    y = jax.nn.relu(conv(y, w1))
    y = conv(y, w2) * scale + shift
    return jax.nn.relu(x + y)


@program(f32(1, 9, 9, 12), f32(7, 7, 1, 12), f32(12), f32(12), f32(12, 48), f32(48, 12))
def convnext_block(x, depthwise, scale, shift, w0, w1):
    y = conv(x, depthwise, groups=12)
    y = layer_norm(y, scale, shift)
    return x + jax.nn.gelu(y @ w0) @ w1


@program(f32(2, 4, 16, 8), f32(2, 4, 16, 8), f32(2, 4, 16, 8))
def attention(q, k, v):
    scores = jnp.einsum("bhqd,bhkd->bhqk", q, k) / jnp.sqrt(8.0)
    mask = jnp.tril(jnp.ones((16, 16), bool))
    return jnp.einsum("bhqk,bhkd->bhqd", jax.nn.softmax(jnp.where(mask, scores, -1e30)), v)


def heads(x, count):
    return x.reshape(x.shape[0], count, -1).swapaxes(0, 1)


@program(f32(12, 32), f32(32, 96), f32(32, 32), f32(32, 64), f32(64, 32), f32(32), f32(32))
def transformer_block(x, qkv, out, w0, w1, scale, shift):
    q, k, v = (heads(each, 4) for each in jnp.split(layer_norm(x, scale, shift) @ qkv, 3, axis=-1))
    weights = jax.nn.softmax(q @ k.swapaxes(1, 2) / jnp.sqrt(8.0))
    x = x + (weights @ v).swapaxes(0, 1).reshape(12, 32) @ out
    return x + jax.nn.gelu(layer_norm(x, scale, shift) @ w0) @ w1


def rotate(x, position):
    half = x.shape[-1] // 2
    angle = position / 100.0 ** (jnp.arange(half) / half)
    a, b = x[..., :half], x[..., half:]
    return jnp.concatenate([a * jnp.cos(angle) - b * jnp.sin(angle), a * jnp.sin(angle) + b * jnp.cos(angle)], -1)


@program(f32(2, 32), f32(2, 4, 20, 8), f32(2, 4, 20, 8), i32(low=3, high=10), f32(32, 96), f32(32, 32), donate=(1, 2))
def gpt_decode_step(x, keys, values, position, qkv, out):
    q, k, v = (each.reshape(2, 4, 8) for each in jnp.split(x @ qkv, 3, axis=-1))
    q, k = rotate(q, position), rotate(k, position)
    keys = lax.dynamic_update_slice(keys, k[:, :, None], (0, 0, position, 0))
    values = lax.dynamic_update_slice(values, v[:, :, None], (0, 0, position, 0))
    scores = jnp.einsum("bhd,bhkd->bhk", q, keys) / jnp.sqrt(8.0)
    weights = jax.nn.softmax(jnp.where(jnp.arange(20) <= position, scores, -1e30))
    return x + jnp.einsum("bhk,bhkd->bhd", weights, values).reshape(2, 32) @ out, keys, values


@program(f32(7, 3, 5), f32(5, 6), f32(6, 6))
def rnn_scan(xs, w, u):
    def step(h, x):
        h = jnp.tanh(x @ w + h @ u)
        return h, h

    return lax.scan(step, jnp.zeros((3, 6)), xs)


@program(f32(6, 2, 5), f32(5, 16), f32(4, 16), f32(16))
def lstm_scan(xs, w, u, b):
    def step(state, x):
        h, c = state
        i, f, g, o = jnp.split(x @ w + h @ u + b, 4, axis=-1)
        c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        h = jax.nn.sigmoid(o) * jnp.tanh(c)
        return (h, c), h

    return lax.scan(step, (jnp.zeros((2, 4)), jnp.zeros((2, 4))), xs)


@program(f32(5, 2, 3), f32(3, 12), f32(4, 12))
def gru_scan(xs, w, u):
    def step(h, x):
        a, b = x @ w, h @ u
        r = jax.nn.sigmoid(a[:, :4] + b[:, :4])
        z = jax.nn.sigmoid(a[:, 4:8] + b[:, 4:8])
        h = (1 - z) * jnp.tanh(a[:, 8:] + r * b[:, 8:]) + z * h
        return h, h.sum()

    return lax.scan(step, jnp.zeros((2, 4)), xs, reverse=True)


@program(f32(1, 8, 8, 4), f32(3, 3, 4, 8), f32(3, 3, 8, 8), f32(2, 2, 8, 4), f32(3, 3, 8, 4))
def unet_step(x, down, middle, up, out):
    skip = x
    y = jax.nn.silu(conv(x, down, stride=2))
    y = jax.nn.silu(conv(y, middle))
    y = lax.conv_transpose(y, up, (2, 2), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
    return conv(jnp.concatenate([skip, y], -1), out)


@program(i32(3, 7, low=0, high=20), f32(20, 8), f32(8, 20))
def language_model_loss(tokens, embedding, head):
    logits = embedding[tokens[:, :-1]] @ head
    picked = jnp.take_along_axis(jax.nn.log_softmax(logits), tokens[:, 1:, None], axis=-1)
    return -picked.mean()


@program(f32(4, 6, 6, 3), f32(3), f32(3), f32(3), f32(3, low=0.5, high=2))
def batch_norm_inference(x, scale, shift, mean, variance):
    return (x - mean) * lax.rsqrt(variance + 1e-5) * scale + shift


@program(f32(3, 10, 6), f32(6, 6), f32(6, 6), f32(6, 6), f32(4, 6))
def mixture_of_experts(x, a, b, c, gate):
    experts = jnp.stack([a, b, c, a + b])
    weights, chosen = lax.top_k(jax.nn.softmax(jnp.einsum("btd,ed->bte", x, gate)), 2)
    outputs = jnp.einsum("btd,edf->btef", x, experts)
    return (jnp.take_along_axis(outputs, chosen[..., None], axis=2) * weights[..., None]).sum(2)


@program(f32(6, 3), f32(3, low=0.1, high=1))
def state_space_scan(x, decay):
    def combine(a, b):
        return a[0] * b[0], a[1] * b[0] + b[1]

    return lax.associative_scan(combine, (jnp.broadcast_to(decay, x.shape), x))[1]
