"""GPT-2, and a model like Llama's, as one JAX function: `forward` extends sequences by tokens and keeps keys and values in place.

A prompt and a step are the same function with many tokens or one. Weights go by the names under which they are published. Ranks
that share a model run the same function, each with its part of the heads and of the hidden units.
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
    groups: int = 0         # Heads of keys and values in a model like Llama's; 0: GPT-2.
    inner: int = 0          # Hidden units of a layer; 0: four times the width.
    base: float = 10000.0   # Of rotary positions.
    epsilon: float = 1e-5
    tied: bool = False      # A model like Llama's without an lm_head of its own.
    prefix: str = ""        # What stands in front of names in the file with the weights.
    kind: str = "f32"       # "bf16": weights and cache, sums in f32; "int8": what is multiplied by, with a scale for each column.
    ranks: int = 1

    @property
    def kept_heads(self):
        """Heads of keys and values that a rank has. Where they cannot be shared evenly, some ranks have heads of zeros, which add nothing."""
        return -(-(self.groups or self.heads) // self.ranks)

    @property
    def head(self):
        return self.width // self.heads

    @property
    def hidden(self):
        return -(-(self.inner or 4 * self.width) // self.ranks)

    @property
    def table(self):
        return "model.embed_tokens.weight" if self.groups else "wte.weight"

    @property
    def last(self):
        """The weight that makes logits."""
        return "lm_head.weight" if self.groups and not self.tied else self.table

    @property
    def last_is_shared(self):
        """Whether each rank makes its part of the logits; a table that tokens are looked up in stays whole."""
        return self.ranks > 1 and self.last != self.table and self.vocabulary % self.ranks == 0

    @property
    def cache_kind(self):
        return jnp.bfloat16 if self.kind == "bf16" else jnp.float32


MODELS = {
    "tiny": Model(64, 2, 4, 512, 64),
    "tiny-llama": Model(64, 2, 4, 512, 64, groups=2, inner=128),
    "124M": Model(768, 12, 12, 50257, 1024),
    "355M": Model(1024, 24, 16, 50257, 1024),
    "774M": Model(1280, 36, 20, 50257, 1024),
    "1.5B": Model(1600, 48, 25, 50257, 1024),
    "llama-1.1B": Model(2048, 22, 32, 32000, 2048, groups=4, inner=5632),
    "llama-30B": Model(6656, 60, 52, 32000, 2048, groups=52, inner=17920),
}


def shared(model, ranks):
    """The part of one of so many ranks."""
    return dataclasses.replace(model, ranks=ranks)


def of_config(config, prefix=""):
    """The model that a config.json of `transformers` describes, or a ValueError with what is not computed here."""
    def only(name, *allowed):
        if config.get(name, allowed[0]) not in allowed:
            raise ValueError(f"{name} is {config[name]!r}; here it is one of {allowed}")

    kind = config.get("model_type")
    if kind == "gpt2":
        only("activation_function", "gelu_new", "gelu_pytorch_tanh")
        only("scale_attn_weights", True)
        only("scale_attn_by_inverse_layer_idx", False)
        only("tie_word_embeddings", True)
        return Model(config["n_embd"], config["n_layer"], config["n_head"], config["vocab_size"], config["n_positions"],
                     inner=config.get("n_inner") or 0, epsilon=config["layer_norm_epsilon"], prefix=prefix)
    if kind != "llama":
        raise ValueError(f"model_type is {kind!r}; here it is gpt2 or llama")
    only("hidden_act", "silu")
    only("attention_bias", False)
    only("mlp_bias", False)
    only("head_dim", config["hidden_size"] // config["num_attention_heads"], None)
    rotary = config.get("rope_parameters") or config.get("rope_scaling") or {}
    if rotary.get("rope_type", rotary.get("type", "default")) != "default":
        raise ValueError(f"rotary positions are of the type {rotary}; here they are not scaled")
    return Model(config["hidden_size"], config["num_hidden_layers"], config["num_attention_heads"], config["vocab_size"],
                 config["max_position_embeddings"], groups=config.get("num_key_value_heads") or config["num_attention_heads"],
                 inner=config["intermediate_size"], base=rotary.get("rope_theta", config.get("rope_theta", 10000.0)),
                 epsilon=config["rms_norm_eps"], tied=config.get("tie_word_embeddings", False), prefix=prefix)


def products(model):
    """What activations are multiplied by: (inputs, outputs, how ranks share it) by name. "columns" are outputs, "rows" inputs."""
    w, layers = model.width, range(model.layers)
    kept = model.kept_heads * model.head
    queries = kept * (model.heads // (model.groups or model.heads))
    if model.groups:
        each = {"self_attn.q_proj": (w, queries, "columns"), "self_attn.k_proj": (w, kept, "columns"), "self_attn.v_proj": (w, kept, "columns"),
                "self_attn.o_proj": (queries, w, "rows"), "mlp.gate_proj": (w, model.hidden, "columns"),
                "mlp.up_proj": (w, model.hidden, "columns"), "mlp.down_proj": (model.hidden, w, "rows")}
        return {f"model.layers.{i}.{name}": how for i in layers for name, how in each.items()}
    each = {"attn.c_attn": (w, 3 * queries, "thirds"), "attn.c_proj": (queries, w, "rows"),
            "mlp.c_fc": (w, model.hidden, "columns"), "mlp.c_proj": (model.hidden, w, "rows")}
    return {f"h.{i}.{name}": how for i in layers for name, how in each.items()}


def shapes(model):
    """Shape and type of each weight, by its name."""
    w, kind, named = model.width, jnp.bfloat16 if model.kind == "bf16" else jnp.float32, {}

    def add(shape, *names, kind=kind):
        for name in names:
            named[name] = jax.ShapeDtypeStruct(shape, kind)

    def add_product(name, inner, outer, turned):
        if model.kind == "int8":
            add((outer, inner), name, kind=jnp.int8)
            add((outer,), f"{name}.scale")
        else:
            add((outer, inner) if turned else (inner, outer), name)

    for name, (inner, outer, _) in products(model).items():
        add_product(f"{name}.weight", inner, outer, turned=model.groups)
        if not model.groups:
            add((outer,), f"{name}.bias")
    for i in range(model.layers):
        if model.groups:
            add((w,), f"model.layers.{i}.input_layernorm.weight", f"model.layers.{i}.post_attention_layernorm.weight")
        else:
            add((w,), *(f"h.{i}.{name}" for name in ("ln_1.weight", "ln_1.bias", "ln_2.weight", "ln_2.bias")))
    add((model.vocabulary, w), model.table)
    if model.groups:
        add((w,), "model.norm.weight")
    else:
        add((model.context, w), "wpe.weight")
        add((w,), "ln_f.weight", "ln_f.bias")
    if model.last != model.table:
        add_product(model.last, w, model.vocabulary // model.ranks if model.last_is_shared else model.vocabulary, turned=True)
    return named


def empty_cache(model, slots, kind=None):
    """Keys and values of each layer."""
    shape = (slots, model.context, model.kept_heads, model.head)
    return [(jnp.zeros(shape, kind or model.cache_kind), jnp.zeros(shape, kind or model.cache_kind)) for _ in range(model.layers)]


def put(cache, new, slots, at):
    """The cache with new[b, t] at position at[b, t] of slots[b]; Baton runs a command of commands.cpp for it."""
    return cache.at[slots[:, None], at].set(new)


def put_by_command(command, cache, new, slots, at):
    made = jax.ffi.ffi_call(command, jax.ShapeDtypeStruct(cache.shape, cache.dtype), input_output_aliases={0: 0})
    row_bytes = math.prod(cache.shape[2:]) * cache.dtype.itemsize
    return made(cache, new, slots, at[:, 0], context=np.int32(cache.shape[1]), row_bytes=np.int32(row_bytes))


def multiply_int8(x, weights, scales):
    """x times the weights, a row for each output; Baton runs a command of commands.cpp for it."""
    return (x @ weights.T.astype(x.dtype)) * scales


def multiply_by_command(x, weights, scales):
    # An import has one type; with something behind a $ there is another type of the same.
    (outer, inner), rows = weights.shape, math.prod(x.shape[:-1])
    made = jax.ffi.ffi_call(f"gpt.product_int8${rows}x{inner}x{outer}", jax.ShapeDtypeStruct((rows, outer), x.dtype))
    return made(x.reshape(rows, inner), weights, scales).reshape(*x.shape[:-1], outer)


def forward(model, weights, cache, tokens, positions, slots=None, last=None, write=put, multiply=multiply_int8):
    """tokens[b, t] stand at positions[b] + t of the sequence in slots[b] (None: in slot b). Gives the logits behind token last[b]
    (None: behind the only one) and the cache with these tokens in it; what stands behind `last` is overwritten before it is read."""
    at = positions[:, None] + jnp.arange(tokens.shape[1])
    step = _Step(model, weights, cache, at, slots, write, multiply)
    x = (_llama if model.groups else _gpt2)(model, step, tokens, at)
    x = x[:, 0] if last is None else jnp.take_along_axis(x, last[:, None, None], axis=1)[:, 0]
    logits = step.product(x, model.last, turned=True)
    return jax.lax.all_gather(logits, "ranks", axis=1, tiled=True) if model.last_is_shared else logits, step.cache


class _Step:
    """Weights and cache while a function looks at them: products, and attention to what is kept."""

    def __init__(self, model, weights, cache, at, slots, write, multiply):
        self.model, self.weights, self.cache, self.at, self.slots = model, weights, list(cache), at, slots
        self.write, self.multiply = write, multiply
        self.sums = jnp.promote_types(weights[model.table].dtype, jnp.float32)

    def weight(self, name):
        return self.weights[name].astype(self.sums)

    def rows(self, name, places):
        return self.weights[name][places].astype(self.sums)

    def product(self, x, name, turned=False):
        weight = self.weights[name]
        if weight.dtype == jnp.int8:
            return self.multiply(x, weight, self.weights[f"{name}.scale"])
        return jnp.matmul(x.astype(weight.dtype), weight.T if turned else weight, preferred_element_type=self.sums)

    def of_all(self, x):
        """The sum over ranks, where each has made a part of the inputs of a product."""
        return jax.lax.psum(x, "ranks") if self.model.ranks > 1 else x

    def attend(self, i, q, k, v):
        batch, steps, heads, head = q.shape
        rows = jnp.arange(batch, dtype=jnp.int32) if self.slots is None else self.slots
        keys, values = self.cache[i] = tuple(self.write(old, new.astype(old.dtype), rows, self.at) for old, new in zip(self.cache[i], (k, v)))
        if self.slots is not None:
            keys, values = keys[self.slots], values[self.slots]
        q = q.reshape(batch, steps, keys.shape[2], -1, head).astype(keys.dtype)
        scores = jnp.einsum("btgqd,bcgd->bgqtc", q, keys, preferred_element_type=self.sums) / math.sqrt(head)
        seen = jnp.arange(keys.shape[1]) <= self.at[:, None, None, :, None]
        shares = jax.nn.softmax(jnp.where(seen, scores, -1e9), axis=-1).astype(values.dtype)
        mixed = jnp.einsum("bgqtc,bcgd->btgqd", shares, values, preferred_element_type=self.sums)
        return mixed.reshape(batch, steps, heads * head)


def _gpt2(model, step, tokens, at):
    def linear(x, name):
        return step.product(x, f"{name}.weight") + step.weight(f"{name}.bias")

    def linear_of_all(x, name):
        return step.of_all(step.product(x, f"{name}.weight")) + step.weight(f"{name}.bias")

    def norm(x, name):
        centred = x - x.mean(-1, keepdims=True)
        scaled = centred * jax.lax.rsqrt((centred * centred).mean(-1, keepdims=True) + model.epsilon)
        return scaled * step.weight(f"{name}.weight") + step.weight(f"{name}.bias")

    x = step.rows("wte.weight", tokens) + step.rows("wpe.weight", at)
    for i in range(model.layers):
        q, k, v = jnp.split(linear(norm(x, f"h.{i}.ln_1"), f"h.{i}.attn.c_attn").reshape(*tokens.shape, -1, model.head), 3, axis=2)
        x = x + linear_of_all(step.attend(i, q, k, v), f"h.{i}.attn.c_proj")
        x = x + linear_of_all(jax.nn.gelu(linear(norm(x, f"h.{i}.ln_2"), f"h.{i}.mlp.c_fc")), f"h.{i}.mlp.c_proj")
    return norm(x, "ln_f")


def _llama(model, step, tokens, at):
    def linear(x, name):
        return step.product(x, f"{name}.weight", turned=True)

    def norm(x, name):
        return x * jax.lax.rsqrt((x * x).mean(-1, keepdims=True) + model.epsilon) * step.weight(f"{name}.weight")

    def turned(x):
        low, high = jnp.split(x, 2, axis=-1)
        return jnp.concatenate([low * cos - high * sin, high * cos + low * sin], axis=-1)

    angle = at[..., None, None] / model.base ** (jnp.arange(model.head // 2, dtype=step.sums) / (model.head // 2))
    cos, sin = jnp.cos(angle), jnp.sin(angle)
    x = step.rows("model.embed_tokens.weight", tokens)
    for i in range(model.layers):
        name = f"model.layers.{i}"
        normed = norm(x, f"{name}.input_layernorm")
        q, k, v = (linear(normed, f"{name}.self_attn.{each}_proj").reshape(*tokens.shape, -1, model.head) for each in "qkv")
        x = x + step.of_all(linear(step.attend(i, turned(q), turned(k), v), f"{name}.self_attn.o_proj"))
        normed = norm(x, f"{name}.post_attention_layernorm")
        x = x + step.of_all(linear(jax.nn.silu(linear(normed, f"{name}.mlp.gate_proj")) * linear(normed, f"{name}.mlp.up_proj"), f"{name}.mlp.down_proj"))
    return norm(x, "model.norm")
