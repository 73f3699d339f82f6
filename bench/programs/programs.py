"""The programs of this bench: JAX functions with the sizes that they are measured at.

Each is plain JAX, so that one source gives the text for Baton, the program for XLA and, in float64, the answer.
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

    def inputs(self, kind: np.dtype = np.float32) -> list[np.ndarray]:
        """Numbers about as large as a network's: weights are scaled by what is summed."""
        made = np.random.default_rng(7)
        return [(made.standard_normal(shape) * (0.05 if n else 1.0)).astype(kind) for n, shape in enumerate(self.shapes)]


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
