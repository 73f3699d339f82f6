"""What baton-compile tells a library of attentions: NumPy computes what a null device shows that it was told, sizes and strides and a factor,
and gets JAX's numbers.

Forms are drawn from a seed: orders of dimensions, heads that share keys, masks, factors and types. No GPU is needed: whether attention is
given to a library doesn't depend on what runs.
"""
import os
import random
import re
import subprocess
import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench" / "programs"))
from lower import baton_jax  # noqa: E402

TOOLS = Path(os.environ["BATON_TOOLS"])
PLUGIN = os.environ["BATON_LOOPS"]
# More of them by hand: BATON_SEEDS=2-20.
FIRST, LAST = map(int, os.environ.get("BATON_SEEDS", "1-1").split("-"))
FORMS = 12


class Form:
    """One attention: how its tensors lie, and what stands between its products."""

    def __init__(self, source):
        self.dtype = source.choice(["float32", "float16", "bfloat16"])
        self.grouped = source.random() < 0.4  # g heads of Q share one of K and V.
        sizes = {"b": source.choice([1, 2, 3]), "h": source.choice([1, 2, 5]), "g": source.choice([2, 3])}
        sizes |= {"q": source.choice([70, 96]), "k": source.choice([65, 70, 128]), "d": source.choice([8, 24]), "e": source.choice([8, 40])}
        batches = [d for d in "bh" if source.random() < 0.85]
        self.q, self.k = self.order(source, batches, "g" * self.grouped + "q"), self.order(source, batches, "k")
        self.v, self.result = self.order(source, batches, "k"), self.order(source, batches, "g" * self.grouped + "q")
        self.mask = source.choice(["none", "causal", "causal", "causal_least", "window", "shifted"])
        self.factor = source.choice(["none", "times", "over", "python"])
        self.shapes = [[sizes[d] for d in self.q] + [sizes["d"]], [sizes[d] for d in self.k] + [sizes["d"]], [sizes[d] for d in self.v] + [sizes["e"]]]
        self.rows, self.keys = sizes["q"], sizes["k"]
        self.scores = "".join(batches) + "g" * self.grouped + "qk"

    @staticmethod
    def order(source, batches, others):
        if source.random() < 0.5:
            return "".join(batches) + others
        letters = list(others) + batches
        return "".join(source.sample(letters, len(letters)))

    def __call__(self, q, k, v):
        scores = jnp.einsum(f"{self.q}d,{self.k}d->{self.scores}", q, k)
        if self.factor == "times":
            scores = scores * scores.dtype.type(0.25)
        elif self.factor == "over":
            scores = scores / jnp.sqrt(q.shape[-1]).astype(scores.dtype)
        elif self.factor == "python":
            scores = scores * 0.3
        row, key = jnp.arange(self.rows)[:, None], jnp.arange(self.keys)
        counts = {"window": (row >= key) & (row < key + 9), "shifted": row + 3 >= key}.get(self.mask, row >= key)
        if self.mask != "none":
            scores = jnp.where(counts, scores, -jnp.inf if self.mask == "causal" else jnp.finfo(scores.dtype).min)
        weights = jax.nn.softmax(scores.astype(jnp.float32), axis=-1).astype(v.dtype)
        return jnp.einsum(f"{self.scores},{self.v}e->{self.result}e", weights, v)

    def __repr__(self):
        return " ".join(f"{key}={value}" for key, value in vars(self).items())


def computed(numbers, given, size):
    """A result as its memory is, from memories of Q, K and V: what the plugin's README says of the numbers."""
    batches, heads, key_heads, rows, keys, depth, width, is_causal, scale = numbers[:9]
    scale = np.array([scale], np.int32).view(np.float32)[0]
    strides = [numbers[9 + 3 * i: 12 + 3 * i] for i in range(4)]

    def view(memory, sizes, of):
        bytes_of = memory.itemsize
        reach = sum((size - 1) * stride for size, stride in zip(sizes, [*of, 1])) + 1
        assert reach <= memory.size, f"reaches {reach} of {memory.size}"
        return np.lib.stride_tricks.as_strided(memory, sizes, [stride * bytes_of for stride in [*of, 1]])

    q = view(given[0], (batches, heads, rows, depth), strides[0])
    k = view(given[1], (batches, key_heads, keys, depth), strides[1]).repeat(heads // key_heads, 1)
    v = view(given[2], (batches, key_heads, keys, width), strides[2]).repeat(heads // key_heads, 1)
    scores = np.einsum("bhqd,bhkd->bhqk", q, k) * scale
    if is_causal:
        scores = np.where(np.arange(rows)[:, None] >= np.arange(keys), scores, -np.inf)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    result = np.full(size, np.nan)
    view(result, (batches, heads, rows, width), strides[3])[:] = np.einsum("bhqk,bhkd->bhqd", weights / weights.sum(-1, keepdims=True), v)
    return result


def run(command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr[-2000:]
    return done


@pytest.mark.parametrize("seed", range(FIRST, LAST + 1))
def test_forms(seed, tmp_path):
    source, values = random.Random(seed), np.random.default_rng(seed)
    library, taken = Path(__file__).with_name("loops.library.mlir"), 0
    for number in range(FORMS):
        form = Form(source)
        inputs = [jnp.asarray(values.uniform(-1, 1, shape), form.dtype) for shape in form.shapes]
        wanted = np.asarray(jax.jit(form)(*inputs)).astype(np.float64)
        (tmp_path / "p.mlir").write_text(baton_jax().lower(form, *inputs))
        explained = run([TOOLS / "baton-compile", "--target-device=cuda", f"--library={library}", "--explain", tmp_path / "p.mlir", "-o", tmp_path / "p.bvm"]).stderr
        kind = {"float32": "f32", "float16": "f16", "bfloat16": "bf16"}[form.dtype]
        words = [f"--input={'x'.join(map(str, each.shape))}x{kind}" for each in inputs]
        shown = run([TOOLS / "baton-run-module", f"--module={PLUGIN}", f"--module={tmp_path / 'p.bvm'}", "--function=main", "--device=null", "--device_trace=-", f"--output=@{tmp_path / 'result.npy'}", *words]).stdout
        calls = re.findall(r"function=loops\.attention ([-0-9 ]+) constants=\[\] bindings=\[(.*?)\] \|", shown)
        if form.mask in ("window", "shifted"):
            assert not calls and "its mask is another one" in explained, f"{form}\n{explained}"
            continue
        if not calls:  # Heads that share keys and lie apart, and what else a library has no strides for.
            assert "attention, stays generated" in explained or "attention" not in explained, f"{form}\n{explained}"
            continue
        taken += 1
        buffers = [int(each) for each in re.findall(r"slot \d+=buffer (\d+)\[0, ", calls[0][1])]
        assert len(calls) == 1 and buffers == [0, 1, 2, 3], f"{form}\n{shown}"
        memories = [np.asarray(each).astype(np.float64).reshape(-1) for each in inputs]
        result = computed([int(each) for each in calls[0][0].split()], memories, wanted.size).reshape(wanted.shape)
        tolerance = {"float32": 1e-5, "float16": 4e-3, "bfloat16": 3e-2}[form.dtype]
        np.testing.assert_allclose(result, wanted, atol=tolerance, err_msg=f"{form}\n{calls}")
    assert taken >= FORMS // 3, taken
