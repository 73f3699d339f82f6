#!/usr/bin/env python3
"""Variants of a model beside the same function in f64: check_kinds.py tiny [--steps=24] [--device=local-task]

In bf16 the error of the logits may be 1.5 times that of JAX's bf16; with weights of one byte it may be 1e-4 of the largest logit, and the
tensors of that file are what the f32 weights are within half a step.
"""
import argparse
import dataclasses
import functools
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import running  # noqa: E402

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import model as models  # noqa: E402
import numpy as np  # noqa: E402
import weights as files  # noqa: E402

LIKELIEST = np.array([[0, 0, 1, 0]], np.float32)
PROMPT, LENGTH = 16, 13


def tokens_of(model, steps):
    """The same for all that are compared: a prompt, and the token of each step."""
    rng = np.random.default_rng(2)
    return rng.integers(0, model.vocabulary, (1, PROMPT), np.int32), rng.integers(0, model.vocabulary, steps, np.int32)


def jax_logits(model, weights, steps, kind):
    prompt, tokens = tokens_of(model, steps)
    step = jax.jit(functools.partial(models.forward, model), donate_argnums=(1,))
    zero, last = jnp.zeros(1, jnp.int32), jnp.array([LENGTH - 1], jnp.int32)
    logits, cache = step(weights, models.empty_cache(model, 1, kind), jnp.asarray(prompt), zero, zero, last)
    made = [np.asarray(logits, np.float64)]
    for i, token in enumerate(tokens):
        logits, cache = step(weights, cache, jnp.array([[token]], jnp.int32), jnp.array([LENGTH + i], jnp.int32))
        made.append(np.asarray(logits, np.float64))
    return np.concatenate(made)


def exact_logits(model, weights, steps):
    with jax.enable_x64(True):
        wide = {name: jnp.asarray(each if each.dtype == np.int8 else np.asarray(each, np.float64)) for name, each in weights.items()}
        return jax_logits(model, wide, steps, jnp.float64)


def baton_logits(model, path, folder, steps, device):
    program = running.load(running.compiled(model, folder, prompt=PROMPT, target=running.target_of(device)), path, device)
    prompt, tokens = tokens_of(model, steps)
    zero, last = np.zeros(1, np.int32), np.array([LENGTH - 1], np.int32)
    _, logits, *cache = program.prefill(*running.empty_cache(model, 1), prompt, zero, zero, last, LIKELIEST)
    made = [np.asarray(logits, np.float64)]
    for i, token in enumerate(tokens):
        _, _, logits, *cache = program.decode(*cache, np.array([[token]], np.int32), np.array([LENGTH + i], np.int32), LIKELIEST)
        made.append(np.asarray(logits, np.float64))
    return np.concatenate(made)


def off(logits, exact):
    """The root of the mean square of what they differ by, and the largest, as shares of the largest logit."""
    difference = np.abs(logits - exact) / np.abs(exact).max()
    return float(np.sqrt((difference ** 2).mean())), float(difference.max())


def check_bytes(model, whole, made):
    """The rounding of a weight is within half a step of its column."""
    for name in made:
        if made[name].dtype == np.int8:
            value = whole[name] if model.groups else whole[name].T
            scale = made[f"{name}.scale"][:, None]
            if not (np.abs(value - made[name] * scale) <= 0.5001 * scale).all():
                raise SystemExit(f"{name} is rounded by more than half a step")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", choices=models.MODELS)
    parser.add_argument("--kinds", default="bf16,int8")
    parser.add_argument("--steps", type=int, default=24)
    parser.add_argument("--device", default="local-task")
    options = parser.parse_args()
    running.need(options.device)
    problems = []
    with tempfile.TemporaryDirectory() as folder:
        source = f"{folder}/weights.safetensors"
        files.write_random(models.MODELS[options.model], source)
        for kind in options.kinds.split(","):
            model, path = dataclasses.replace(models.MODELS[options.model], kind=kind), f"{folder}/{kind}.safetensors"
            files.prepare(model, source, path)
            weights = files.read(path)
            exact = exact_logits(model, weights, options.steps)
            ours, ours_most = off(baton_logits(model, path, folder, options.steps, options.device), exact)
            theirs, theirs_most = off(jax_logits(model, {name: jnp.asarray(each) for name, each in weights.items()}, options.steps, None), exact)
            print(f"{options.model}, {kind} on {options.device}: off from f64 by {ours:.1e} (at most {ours_most:.1e}), JAX's {kind} by {theirs:.1e} "
                  f"(at most {theirs_most:.1e})")
            if kind == "bf16" and (ours > 1.5 * theirs or ours_most > 1.5 * theirs_most):
                problems.append("in bf16 that is more than 1.5 times JAX's")
            if kind == "int8":
                check_bytes(model, files.read(source), weights)
                if ours_most > 1e-4:
                    problems.append("in int8 that is more than 1e-4")
    if problems:
        raise SystemExit("; ".join(problems))


if __name__ == "__main__":
    main()
