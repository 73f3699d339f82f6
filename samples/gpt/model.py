"""GPT-2, and a model like Llama's, as one JAX function: `forward` extends sequences by tokens and keeps keys and values in place.

A prompt and a step are the same function with many tokens or one. Weights go by the names under which they are published.
"""
import dataclasses
import math

import jax
import jax.numpy as jnp
import numpy as np


@dataclasses.dataclass(frozen=True)
class Model:
    width: int
    layers: int
    heads: int
    vocabulary: int
    context: int
    groups: int = 0  # Heads of keys and values in a model like Llama's; 0: GPT-2.
    inner: int = 0   # Hidden units of its layers.
    base: float = 10000.0

    @property
    def kept_heads(self):
        return self.groups or self.heads

    @property
    def head(self):
        return self.width // self.heads


MODELS = {
    "tiny": Model(64, 2, 4, 512, 64),
    "tiny-llama": Model(64, 2, 4, 512, 64, groups=2, inner=128),
    "124M": Model(768, 12, 12, 50257, 1024),
    "355M": Model(1024, 24, 16, 50257, 1024),
    "774M": Model(1280, 36, 20, 50257, 1024),
    "1.5B": Model(1600, 48, 25, 50257, 1024),
    "llama-1.1B": Model(2048, 22, 32, 32000, 2048, groups=4, inner=5632),
}


def shapes(model):
    """The shape of each weight, by its name."""
    w, named = model.width, {}
    if not model.groups:
        for i in range(model.layers):
            for name, shape in {"ln_1": (w,), "attn.c_attn": (w, 3 * w), "attn.c_proj": (w, w), "ln_2": (w,),
                                "mlp.c_fc": (w, 4 * w), "mlp.c_proj": (4 * w, w)}.items():
                named |= {f"h.{i}.{name}.weight": shape, f"h.{i}.{name}.bias": shape[-1:]}
        return named | {"wte.weight": (model.vocabulary, w), "wpe.weight": (model.context, w), "ln_f.weight": (w,), "ln_f.bias": (w,)}
    kept = model.groups * model.head
    for i in range(model.layers):
        for name, shape in {"input_layernorm": (w,), "self_attn.q_proj": (w, w), "self_attn.k_proj": (kept, w),
                            "self_attn.v_proj": (kept, w), "self_attn.o_proj": (w, w), "post_attention_layernorm": (w,),
                            "mlp.gate_proj": (model.inner, w), "mlp.up_proj": (model.inner, w), "mlp.down_proj": (w, model.inner)}.items():
            named[f"model.layers.{i}.{name}.weight"] = shape
    return named | {"model.embed_tokens.weight": (model.vocabulary, w), "model.norm.weight": (w,), "lm_head.weight": (model.vocabulary, w)}


def empty_cache(model, slots, kind=jnp.float32):
    """Keys and values of each layer."""
    shape = (slots, model.context, model.kept_heads, model.head)
    return [(jnp.zeros(shape, kind), jnp.zeros(shape, kind)) for _ in range(model.layers)]


def put(cache, new, slots, at):
    """The cache with new[b, t] at position at[b, t] of slots[b]; Baton runs a command of commands.cpp for it."""
    return cache.at[slots[:, None], at].set(new)


def put_by_command(command, cache, new, slots, at):
    made = jax.ffi.ffi_call(command, jax.ShapeDtypeStruct(cache.shape, cache.dtype), input_output_aliases={0: 0})
    return made(cache, new, slots, at[:, 0], context=np.int32(cache.shape[1]), row=np.int32(math.prod(cache.shape[2:])))


def forward(model, weights, cache, tokens, positions, slots=None, last=None, write=put):
    """tokens[b, t] stand at positions[b] + t of the sequence in slots[b] (None: in slot b). Gives the logits behind token last[b]
    (None: behind the only one) and the cache with these tokens in it; what stands behind `last` is overwritten before it is read."""
    at = positions[:, None] + jnp.arange(tokens.shape[1])
    kept = _Kept(cache, at, slots, write)
    x = (_llama if model.groups else _gpt2)(model, weights, kept, tokens, at)
    x = x[:, 0] if last is None else jnp.take_along_axis(x, last[:, None, None], axis=1)[:, 0]
    return x @ weights["lm_head.weight" if model.groups else "wte.weight"].T, kept.cache


class _Kept:
    """The cache while a function looks at it: attention to what is kept, after this layer's keys and values were added."""

    def __init__(self, cache, at, slots, write):
        self.cache, self.at, self.slots, self.write = list(cache), at, slots, write

    def attend(self, i, q, k, v):
        batch, steps, heads, head = q.shape
        rows = jnp.arange(batch, dtype=jnp.int32) if self.slots is None else self.slots
        keys, values = self.cache[i] = tuple(self.write(old, new, rows, self.at) for old, new in zip(self.cache[i], (k, v)))
        if self.slots is not None:
            keys, values = keys[self.slots], values[self.slots]
        q = q.reshape(batch, steps, keys.shape[2], -1, head)
        scores = jnp.einsum("btgqd,bcgd->bgqtc", q, keys) / math.sqrt(head)
        seen = jnp.arange(keys.shape[1]) <= self.at[:, None, None, :, None]
        mixed = jnp.einsum("bgqtc,bcgd->btgqd", jax.nn.softmax(jnp.where(seen, scores, -1e9), axis=-1), values)
        return mixed.reshape(batch, steps, heads * head)


def _gpt2(model, weights, kept, tokens, at):
    def linear(x, name):
        return x @ weights[f"{name}.weight"] + weights[f"{name}.bias"]

    def norm(x, name):
        centred = x - x.mean(-1, keepdims=True)
        return centred * jax.lax.rsqrt((centred * centred).mean(-1, keepdims=True) + 1e-5) * weights[f"{name}.weight"] + weights[f"{name}.bias"]

    x = weights["wte.weight"][tokens] + weights["wpe.weight"][at]
    for i in range(model.layers):
        q, k, v = jnp.split(linear(norm(x, f"h.{i}.ln_1"), f"h.{i}.attn.c_attn").reshape(*tokens.shape, 3 * model.heads, model.head), 3, axis=2)
        x = x + linear(kept.attend(i, q, k, v), f"h.{i}.attn.c_proj")
        x = x + linear(jax.nn.gelu(linear(norm(x, f"h.{i}.ln_2"), f"h.{i}.mlp.c_fc")), f"h.{i}.mlp.c_proj")
    return norm(x, "ln_f")


def _llama(model, weights, kept, tokens, at):
    def linear(x, name):
        return x @ weights[f"{name}.weight"].T

    def norm(x, name):
        return x * jax.lax.rsqrt((x * x).mean(-1, keepdims=True) + 1e-5) * weights[f"{name}.weight"]

    def turned(x):
        low, high = jnp.split(x, 2, axis=-1)
        return jnp.concatenate([low * cos - high * sin, high * cos + low * sin], axis=-1)

    angle = at[..., None, None] / model.base ** (jnp.arange(model.head // 2, dtype=jnp.float32) / (model.head // 2))
    cos, sin = jnp.cos(angle), jnp.sin(angle)
    x = weights["model.embed_tokens.weight"][tokens]
    for i in range(model.layers):
        name = f"model.layers.{i}"
        normed = norm(x, f"{name}.input_layernorm")
        q, k, v = (linear(normed, f"{name}.self_attn.{each}_proj").reshape(*tokens.shape, -1, model.head) for each in "qkv")
        x = x + linear(kept.attend(i, turned(q), turned(k), v), f"{name}.self_attn.o_proj")
        normed = norm(x, f"{name}.post_attention_layernorm")
        x = x + linear(jax.nn.silu(linear(normed, f"{name}.mlp.gate_proj")) * linear(normed, f"{name}.mlp.up_proj"), f"{name}.mlp.down_proj")
    return norm(x, "model.norm")
