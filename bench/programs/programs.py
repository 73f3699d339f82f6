"""The programs of this bench: JAX functions with the sizes that they are measured at.

Each is plain JAX, so that one source gives the text for Baton, the program for XLA and, in float64, the answer.
A program has one result or a tuple of them.
"""

import dataclasses
import functools
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax


@dataclasses.dataclass(frozen=True)
class Program:
    name: str
    function: Callable
    shapes: tuple[tuple[int, ...], ...]
    # How far a result may be from the answer in float64, as a share of the answer's largest element.
    tolerance: float = 1e-5
    # Arguments that are integers, by their place: they are below this.
    integers: dict[int, int] = dataclasses.field(default_factory=dict)
    # Plugins that the program calls for what has no kernel.
    libraries: tuple[str, ...] = ()

    def inputs(self, kind: np.dtype = np.float32) -> list[np.ndarray]:
        """Numbers about as large as a network's: weights are scaled by what is summed."""
        made = np.random.default_rng(7)
        return [made.integers(0, self.integers[n], shape, np.int32) if n in self.integers
                else (made.standard_normal(shape) * (0.05 if n else 1.0)).astype(kind) for n, shape in enumerate(self.shapes)]

    def types(self, kind: np.dtype) -> list[jax.ShapeDtypeStruct]:
        return [jax.ShapeDtypeStruct(shape, np.int32 if n in self.integers else kind) for n, shape in enumerate(self.shapes)]


def mlp(x, w1, b1, w2, b2):
    return jax.nn.relu(x @ w1 + b1) @ w2 + b2


def layernorm(x, scale, shift):
    mean = x.mean(-1, keepdims=True)
    centred = x - mean
    variance = (centred * centred).mean(-1, keepdims=True)
    return centred * lax.rsqrt(variance + 1e-5) * scale + shift


def softmax(x):
    return jax.nn.softmax(x, axis=-1)


def gelu(x):
    return jax.nn.gelu(x)


def batch_product(a, b):
    return a @ b


def attention(x, wq, wk, wv, wo, heads):
    steps, width = x.shape

    def split(w):
        return (x @ w).reshape(steps, heads, width // heads).transpose(1, 0, 2)

    scores = split(wq) @ split(wk).transpose(0, 2, 1) / np.sqrt(width // heads).astype(x.dtype)
    mixed = jax.nn.softmax(scores, axis=-1) @ split(wv)
    return mixed.transpose(1, 0, 2).reshape(steps, width) @ wo


def transformer_block(x, wq, wk, wv, wo, w1, b1, w2, b2, s1, t1, s2, t2, *, heads=8):
    x = x + attention(layernorm(x, s1, t1), wq, wk, wv, wo, heads)
    return x + jax.nn.gelu(layernorm(x, s2, t2) @ w1 + b1) @ w2 + b2


def batched_block(x, wqkv, wo, w1, b1, w2, b2, s1, t1, s2, t2):
    """The same as models write it: batches, heads and three projections as dimensions of their own."""
    normed = layernorm(x, s1, t1)
    q, k, v = jnp.einsum("bsd,tdhe->tbshe", normed, wqkv)
    scores = jnp.einsum("bqhe,bkhe->bhqk", q, k) / np.sqrt(q.shape[-1]).astype(x.dtype)
    mixed = jnp.einsum("bhqk,bkhe->bqhe", jax.nn.softmax(scores, axis=-1), v)
    x = x + jnp.einsum("bqhe,hed->bqd", mixed, wo)
    return x + jax.nn.gelu(layernorm(x, s2, t2) @ w1 + b1) @ w2 + b2


def conv_nhwc(x, w):
    return lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))


def conv_nchw(x, w):
    return lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=("NCHW", "OIHW", "NCHW"))


def depthwise(x, w):
    return lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"),
                                    feature_group_count=x.shape[-1])


def max_pool(x):
    return lax.reduce_window(x, -jnp.inf, lax.max, (1, 3, 3, 1), (1, 2, 2, 1), "SAME")


def rope(x):
    """Rotary positions: halves swapped and joined again, as models write them."""
    steps, _, width = x.shape
    angle = jnp.arange(steps, dtype=x.dtype)[:, None] / 10000.0 ** (jnp.arange(width // 2, dtype=x.dtype) / (width // 2))
    cos, sin = jnp.cos(angle)[:, None, :], jnp.sin(angle)[:, None, :]
    low, high = jnp.split(x, 2, axis=-1)
    return jnp.concatenate([low * cos - high * sin, low * sin + high * cos], axis=-1)


def reverse(x):
    return x[::-1] + x[:, ::-1]


def convolve(x, w, stride=1, groups=1):
    return lax.conv_general_dilated(x, w, (stride, stride), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"),
                                    feature_group_count=groups)


def resnet_block(x, w1, s1, t1, w2, s2, t2):
    inner = jax.nn.relu(convolve(x, w1) * s1 + t1)
    return jax.nn.relu(x + convolve(inner, w2) * s2 + t2)


def resnet_down(x, w1, w2, shortcut):
    """The first block of a stage: half the size, twice the channels."""
    return jax.nn.relu(convolve(jax.nn.relu(convolve(x, w1, stride=2)), w2) + convolve(x, shortcut, stride=2))


def convnext_block(x, w, scale, shift, w1, b1, w2, b2):
    normed = layernorm(convolve(x, w, groups=x.shape[-1]), scale, shift)
    return x + jax.nn.gelu(normed @ w1 + b1) @ w2 + b2


def unet_step(x, down, middle, up, out):
    """A level of a U-Net: smaller, through its middle, larger again, beside what went around."""
    around = jax.nn.silu(convolve(x, down))
    small = lax.reduce_window(around, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
    large = lax.conv_transpose(jax.nn.silu(convolve(small, middle)), up, (2, 2), "SAME",
                               dimension_numbers=("NHWC", "HWIO", "NHWC"))
    return convolve(jnp.concatenate([around, large], axis=-1), out)


def embedding_step(table, w, tokens, labels):
    """Cross-entropy behind an embedding, and a step down its gradient."""
    def loss(table, w):
        scores = jax.nn.log_softmax(table[tokens] @ w)
        return -jnp.take_along_axis(scores, labels[:, None], axis=-1).mean()

    value, (to_table, to_w) = jax.value_and_grad(loss, argnums=(0, 1))(table, w)
    return value, table - 0.1 * to_table, w - 0.1 * to_w


def decode_step(x, wqkv, wo, keys, values, position):
    """One token through attention, whose keys and values are kept from step to step."""
    steps, heads, width = keys.shape
    q, k, v = jnp.einsum("d,tdhe->the", x, wqkv)
    keys = lax.dynamic_update_slice_in_dim(keys, k[None], position, 0)
    values = lax.dynamic_update_slice_in_dim(values, v[None], position, 0)
    scores = jnp.einsum("he,she->hs", q, keys) / np.sqrt(width).astype(x.dtype)
    scores = jnp.where(jnp.arange(steps) <= position, scores, jnp.finfo(x.dtype).min)
    mixed = jnp.einsum("hs,she->he", jax.nn.softmax(scores, axis=-1), values)
    return x + jnp.einsum("he,hed->d", mixed, wo), keys, values


def lstm(x, w, u, b):
    def step(carried, now):
        h, c = carried
        i, f, g, o = jnp.split(now @ w + h @ u + b, 4, axis=-1)
        c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        h = jax.nn.sigmoid(o) * jnp.tanh(c)
        return (h, c), h

    begin = jnp.zeros((x.shape[1], u.shape[0]), x.dtype)
    return lax.scan(step, (begin, begin), x)[1]


def stencil(x):
    """Heat on a ring of rings, in twenty steps."""
    def step(_, x):
        around = jnp.roll(x, 1, 0) + jnp.roll(x, -1, 0) + jnp.roll(x, 1, 1) + jnp.roll(x, -1, 1)
        return x + 0.2 * (around - 4 * x)

    return lax.fori_loop(0, 20, step, x)


def stencil_padded(x):
    """The same between walls, written as models write it: slices of what is padded."""
    def step(_, x):
        p = jnp.pad(x, 1)
        return x + 0.2 * (p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:] - 4 * x)

    return lax.fori_loop(0, 20, step, x)


def nbody(position, velocity):
    apart = position[None, :, :] - position[:, None, :]
    distance = (apart * apart).sum(-1) + 0.01
    pull = (apart * (lax.rsqrt(distance) / distance)[:, :, None]).sum(1)
    velocity = velocity + 0.001 * pull
    return position + 0.001 * velocity, velocity


def layernorm_gradient(x, scale, shift):
    return jax.grad(lambda *arguments: (layernorm(*arguments) ** 2).sum(), argnums=(0, 1, 2))(x, scale, shift)


def adam_step(weights, gradient, first, second):
    first, second = 0.9 * first + 0.1 * gradient, 0.999 * second + 0.001 * gradient * gradient
    return weights - 0.001 * (first / 0.1) / (jnp.sqrt(jnp.abs(second) / 0.001) + 1e-3), first, second


def mlp_step(x, w1, b1, w2, b2):
    """A step of training: products of what is turned round, sums over what is batched."""
    gradients = jax.grad(lambda *weights: (mlp(x, *weights) ** 2).mean(), argnums=(0, 1, 2, 3))(w1, b1, w2, b2)
    return tuple(weight - 0.1 * gradient for weight, gradient in zip((w1, b1, w2, b2), gradients))


def conv_gradient(x, w):
    return jax.grad(lambda x, w: (convolve(x, w, stride=2) ** 2).sum(), argnums=(0, 1))(x, w)


def small_mlp(x, w1, b1, w2, b2):
    """So small that the call is what costs."""
    return mlp(x, w1, b1, w2, b2)


def middle_sums(x):
    return x.sum(1), x.max(0), jax.nn.softmax(x, axis=1)


def edit_distance(a, b):
    """Loops in a loop, of steps that are a few numbers each."""
    def row(above, letter):
        def column(left, now):
            up, corner, other = now
            least = jnp.minimum(jnp.minimum(up + 1, left + 1), corner + (letter != other))
            return least, least

        rest = lax.scan(column, above[0] + 1, (above[1:], above[:-1], b))[1]
        return jnp.concatenate([above[:1] + 1, rest]), None

    return lax.scan(row, jnp.arange(b.shape[0] + 1), a)[0][-1]


def adaptive_steps(y):
    """An equation of movement by Runge-Kutta, whose steps are as long as their error lets them be."""
    def slope(y):
        return jnp.stack([y[1], (1 - y[0] * y[0]) * y[1] - y[0]])

    def step(carried):
        y, time, length = carried
        first = slope(y)
        middle = slope(y + 0.5 * length * first)
        last = slope(y + length * (2 * middle - first))
        better = y + length / 6 * (first + 4 * middle + last)
        error = jnp.abs(better - y - length * middle).max()
        takes = error < 1e-4
        longer = length * jnp.clip(0.9 * (1e-4 / (error + 1e-10)) ** 0.5, 0.2, 3.0)
        return jnp.where(takes, better, y), time + jnp.where(takes, length, 0.0), jnp.minimum(longer, 0.1)

    end = lax.while_loop(lambda carried: carried[1] < 5.0, step, (y, jnp.zeros((), y.dtype), jnp.full((), 0.01, y.dtype)))
    return end[0]


def most_likely_path(start, moves, seen):
    def step(best, now):
        through = best[:, None] + moves
        return through.max(0) + now, through.argmax(0)

    last, before = lax.scan(step, start + seen[0], seen[1:])
    return lax.scan(lambda at, row: (row[at], at), last.argmax(), before, reverse=True)[1]


def least_squares(a, right):
    """By QR, and by the equations that Cholesky and LU solve: small factorizations, which JAX asks LAPACK for."""
    q, r = jnp.linalg.qr(a)
    square = a.T @ a + jnp.eye(a.shape[1], dtype=a.dtype)
    damped = jax.scipy.linalg.cho_solve((jnp.linalg.cholesky(square), True), a.T @ right)
    return jax.scipy.linalg.solve_triangular(r, q.T @ right), damped, jnp.linalg.solve(square, a.T @ right)


def masked_means(x):
    """Of a mask that others read: means along columns and of all, what any of a column is."""
    seen = x > 0
    kept = jnp.where(seen, x, 0)
    return kept.sum(0) / jnp.maximum(seen.sum(0), 1), kept.sum() / seen.sum(), (x > 2).any(0)


def block_shapes(steps, width, inner):
    return ((steps, width), *[(width, width)] * 4, (width, inner), (inner,), (inner, width), *[(width,)] * 5)



_BATCHED = ((3, 256, 8, 32), (8, 32, 256), (256, 1024), (1024,), (1024, 256), (256,), (256,), (256,), (256,), (256,))

PROGRAMS = [
    Program("mlp", mlp, ((64, 512), (512, 1024), (1024,), (1024, 512), (512,))),
    Program("transformer_block", transformer_block, block_shapes(128, 256, 1024)),
    Program("batched_block", batched_block, ((1, 128, 256), *_BATCHED)),
    Program("batched_block_2", batched_block, ((2, 128, 256), *_BATCHED)),
    Program("conv_nhwc", conv_nhwc, ((1, 56, 56, 64), (3, 3, 64, 64))),
    Program("conv_nchw", conv_nchw, ((1, 64, 56, 56), (64, 64, 3, 3))),
    Program("layernorm", layernorm, ((1024, 1024), (1024,), (1024,))),
    Program("softmax", softmax, ((1024, 1024),)),
    Program("variance", lambda x: x.var(), ((1024, 1024),)),
    Program("gelu", gelu, ((1024, 1024),)),
    Program("batch_product", batch_product, ((16, 128, 64), (16, 64, 128))),
    Program("depthwise_7x7", depthwise, ((1, 56, 56, 96), (7, 7, 1, 96))),
    Program("max_pool", max_pool, ((1, 112, 112, 64),)),
    # Angles of up to 512 have steps of 3e-5 in f32.
    Program("rope", rope, ((512, 8, 64),), tolerance=1e-4),
    Program("reverse", reverse, ((512, 512),)),
    Program("resnet_block", resnet_block, ((1, 28, 28, 128), (3, 3, 128, 128), (128,), (128,), (3, 3, 128, 128), (128,), (128,))),
    Program("resnet_down", resnet_down, ((1, 56, 56, 64), (3, 3, 64, 128), (3, 3, 128, 128), (1, 1, 64, 128))),
    Program("convnext_block", convnext_block, ((1, 28, 28, 192), (7, 7, 1, 192), (192,), (192,), (192, 768), (768,), (768, 192), (192,))),
    Program("unet_step", unet_step, ((1, 64, 64, 32), (3, 3, 32, 32), (3, 3, 32, 64), (2, 2, 64, 32), (3, 3, 64, 32))),
    Program("conv_strided", functools.partial(convolve, stride=2), ((1, 112, 112, 32), (3, 3, 32, 64))),
    Program("depthwise_strided", lambda x, w: convolve(x, w, stride=2, groups=x.shape[-1]), ((1, 112, 112, 96), (3, 3, 1, 96))),
    Program("conv_gradient", conv_gradient, ((2, 28, 28, 64), (3, 3, 64, 64))),
    Program("embedding_step", embedding_step, ((2048, 128), (128, 2048), (256,), (256,)), integers={2: 2048, 3: 2048}),
    Program("decode_step", decode_step, ((512,), (3, 512, 8, 64), (8, 64, 512), (1024, 8, 64), (1024, 8, 64), ()), integers={5: 1000}),
    Program("lstm", lstm, ((64, 16, 128), (128, 512), (128, 512), (512,))),
    Program("stencil", stencil, ((512, 512),)),
    Program("stencil_padded", stencil_padded, ((512, 512),)),
    Program("nbody", nbody, ((512, 3), (512, 3)), tolerance=1e-4),
    Program("sort", lambda x: jnp.sort(x, axis=-1), ((64, 1024),)),
    Program("sort_long", jnp.sort, ((65536,),)),
    Program("top_k", lambda x: lax.top_k(x, 16), ((64, 4096),)),
    Program("fft", lambda x: jnp.abs(jnp.fft.rfft(x)), ((64, 1024),), libraries=("fft",)),
    Program("fft_rows", lambda x: jnp.abs(jnp.fft.rfft(x)), ((127, 512),)),
    Program("fft_convolution", lambda x, y: jnp.fft.irfft(jnp.fft.rfft(x) * jnp.fft.rfft(y)), ((16, 8192), (16, 8192)), tolerance=1e-4),
    Program("fft_both_ways", lambda x: jnp.fft.ifft2(jnp.fft.fft2(x)).real, ((128, 128),)),
    Program("fft_prime", lambda x: jnp.abs(jnp.fft.fft(x)), ((10, 4099),)),
    Program("fft_long", lambda x: jnp.abs(jnp.fft.rfft(x)), ((1 << 20,),)),
    Program("layernorm_gradient", layernorm_gradient, ((1024, 1024), (1024,), (1024,))),
    Program("adam_step", adam_step, ((1024, 512),) * 4),
    Program("mlp_step", mlp_step, ((64, 512), (512, 1024), (1024,), (1024, 512), (512,))),
    Program("small_mlp", small_mlp, ((1, 16), (16, 32), (32,), (32, 8), (8,))),
    Program("middle_sums", middle_sums, ((64, 128, 256),)),
    Program("turned", lambda x: x.T + 1, ((1024, 1024),)),
    Program("rows_by_index", lambda x, at: x[at], ((8192, 64), (4096,)), integers={1: 8192}),
    Program("edit_distance", edit_distance, ((50,), (57,)), integers={0: 5, 1: 5}),
    Program("adaptive_steps", adaptive_steps, ((2,),), tolerance=1e-3),
    Program("most_likely_path", most_likely_path, ((16,), (16, 16), (200, 16))),
    Program("least_squares", least_squares, ((64, 48), (64, 4)), tolerance=1e-4),
    Program("masked_means", masked_means, ((200, 200),)),
    Program("running_sum", lambda x: jnp.cumsum(x, axis=1), ((512, 1024),)),
]


# The sizes that a GPU is measured at (gpu.py); torch_programs.py has the same functions in PyTorch.
GPU_PROGRAMS = [
    Program("mlp", mlp, ((512, 1024), (1024, 4096), (4096,), (4096, 1024), (1024,))),
    Program("transformer_block", functools.partial(transformer_block, heads=16), block_shapes(1024, 1024, 4096)),
    Program("conv_nhwc", conv_nhwc, ((8, 56, 56, 64), (3, 3, 64, 64))),
    Program("conv_nchw", conv_nchw, ((8, 64, 56, 56), (64, 64, 3, 3))),
    Program("layernorm", layernorm, ((4096, 4096), (4096,), (4096,))),
    Program("softmax", softmax, ((4096, 4096),)),
    Program("gelu", gelu, ((4096, 4096),)),
    Program("batch_product", batch_product, ((64, 512, 64), (64, 64, 512))),
]


def find(name: str) -> Program:
    return next(program for program in PROGRAMS if program.name == name)
