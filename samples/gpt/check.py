#!/usr/bin/env python3
"""Holds a model's steps against JAX: check.py tiny --tokens=32 [--device=local-task] [--weights=FILE]

Each step gets the token that JAX finds likeliest; logits may differ by 1e-4 of the largest one. The cache must stay in its memory.
"""
import argparse
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import running  # noqa: E402

import functools  # noqa: E402

import baton  # noqa: E402
import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import model as models  # noqa: E402
import numpy as np  # noqa: E402
import weights as files  # noqa: E402

LIKELIEST = np.array([[0, 0, 1, 0]], np.float32)
PROMPT = 16


class Reference:
    """The same function by jax.jit."""

    def __init__(self, model, weights):
        self.cache, self.weights = models.empty_cache(model, 1), {name: jnp.asarray(each) for name, each in weights.items()}
        self.step = jax.jit(functools.partial(models.forward, model), donate_argnums=(1,))

    def logits(self, tokens, position, last=None):
        slots = None if last is None else jnp.zeros(1, jnp.int32)
        logits, self.cache = self.step(self.weights, self.cache, jnp.asarray(tokens), jnp.full(1, position, jnp.int32), slots, last)
        return np.asarray(logits)


def addresses(cache):
    return [np.asarray(each).ctypes.data for each in cache]


def check(model, program, weights, tokens, in_place=True, of_rank=None):
    """The largest difference, as a share of the largest logit; `of_rank`: what the program has of the model."""
    reference, cache, worst = Reference(model, weights), running.empty_cache(of_rank or model, 1), 0.0
    prompt = np.random.default_rng(2).integers(0, model.vocabulary, (1, PROMPT), np.int32)
    length = PROMPT - 3
    zero, last = np.zeros(1, np.int32), np.array([length - 1], np.int32)
    token, logits, *cache = program.prefill(*cache, prompt, zero, zero, last, LIKELIEST)
    wanted, position = reference.logits(prompt, 0, jnp.asarray(last)), np.array([length], np.int32)
    before = addresses(cache) if in_place else None
    for number in range(tokens):
        given = np.asarray(logits)
        worst = max(worst, float(np.abs(given - wanted).max() / np.abs(wanted).max()))
        if int(np.asarray(token)[0, 0]) != int(given.argmax()):
            raise SystemExit(f"token {number} is {np.asarray(token)[0, 0]}, the likeliest is {given.argmax()}")
        if number == tokens - 1:
            break
        likeliest = wanted.argmax(axis=-1).astype(np.int32)[:, None]
        token, position, logits, *cache = program.decode(*cache, likeliest, position, LIKELIEST)
        wanted = reference.logits(likeliest, length + number)
    if in_place and addresses(cache) != before:
        raise SystemExit("the cache moved")
    return worst


def generated(model, program, prompt, length, settings, count, end=None):
    """What the loop gives out, up to `end`."""
    tokens = []

    def token(number, token):
        tokens.append(token)
        return int(token != end)

    baton_loop = baton.load(program["loop"], device=program["device"], parameters={"model": program["weights"]}, modules=[
        str(running.COMMANDS), program["model"], baton.module("reader", {"token": token})])
    given = baton_loop.generate(*running.empty_cache(model, 1), prompt, np.array([length - 1], np.int32), np.asarray(settings, np.float32), count)
    if given != len(tokens):
        raise SystemExit(f"the loop says {given}, and gave {len(tokens)} tokens")
    return tokens


def check_loop(model, program):
    """The loop gives the likeliest tokens, the same for the same seed, others for another one, and ends where it is told to."""
    prompt = np.random.default_rng(2).integers(0, model.vocabulary, (1, PROMPT), np.int32)
    reference, length = Reference(model, files.read(program["weights"])), PROMPT - 3
    wanted, logits = [], reference.logits(prompt, 0, jnp.array([length - 1]))
    for number in range(8):
        wanted.append(int(logits.argmax()))
        logits = reference.logits(np.array([[wanted[-1]]], np.int32), length + number)
    greedy = generated(model, program, prompt, length, LIKELIEST, 8)
    if greedy != wanted:
        raise SystemExit(f"the loop gave {greedy}, JAX {wanted}")
    ended = generated(model, program, prompt, length, LIKELIEST, 8, end=wanted[2])
    if ended != wanted[:wanted.index(wanted[2]) + 1]:
        raise SystemExit(f"the loop was to end at {wanted[2]} and gave {ended}")
    one, again, other = (generated(model, program, prompt, length, [[1, 40, 0.9, seed]], 24) for seed in (1, 1, 2))
    if one != again or one == other:
        raise SystemExit(f"seeds 1, 1 and 2 gave {one}, {again}, {other}")
    if (single := generated(model, program, prompt, length, [[1, 1, 1, 3]], 8)) != wanted:
        raise SystemExit(f"the likeliest of one is {wanted}, and not {single}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", choices=models.MODELS)
    parser.add_argument("--tokens", type=int, default=32)
    parser.add_argument("--device", default="local-task")
    parser.add_argument("--weights")
    options = parser.parse_args()
    running.need(options.device)
    model, target = models.MODELS[options.model], running.target_of(options.device)
    with tempfile.TemporaryDirectory() as folder:
        weights = options.weights or f"{folder}/weights.safetensors"
        if not options.weights:
            files.write_random(model, weights)
        path = str(running.compiled(model, folder, prompt=PROMPT, target=target))
        program = running.load(path, weights, options.device)
        worst = check(model, program, files.read(weights), options.tokens, in_place=target == "local")
        check_loop(model, {"model": path, "weights": weights, "device": options.device,
                           "loop": str(running.compiled_loop(model, folder, PROMPT, target))})
    print(f"{options.model} on {options.device}: {options.tokens} tokens, logits off by {worst:.1e}")
    if worst > 1e-4:
        raise SystemExit("that is more than 1e-4")


if __name__ == "__main__":
    main()
