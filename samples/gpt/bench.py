#!/usr/bin/env python3
"""How long a token takes: bench.py 124M --weights=FILE [--tokens=16] [--device=local-task]

Baton beside jax.jit of the same function on the same processors, by turns; beside both, how long it takes to read as many bytes as the weights and the
cache have, by as many threads.
"""
import argparse
import concurrent.futures
import functools
import os
import pathlib
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import running  # noqa: E402

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import make_weights  # noqa: E402
import model as models  # noqa: E402
import numpy as np  # noqa: E402

LIKELIEST = np.array([[0, 0, 1, 0]], np.float32)


def median(times):
    return sorted(times)[len(times) // 2]


def read_s(weights, threads):
    """Dot products of all weights with themselves, a share for each thread."""
    arrays = [each.reshape(-1) for each in weights.values()]
    with concurrent.futures.ThreadPoolExecutor(threads) as pool:
        begin = time.perf_counter()
        for each in arrays:
            parts = np.array_split(each, threads) if each.size > 1 << 16 else [each]
            list(pool.map(lambda part: np.dot(part, part), parts))
        return time.perf_counter() - begin


class Baton:
    def __init__(self, name, path, device, folder):
        begin = time.perf_counter()
        compiled = running.compiled(name, folder, target=device)
        self.compile_s = time.perf_counter() - begin
        self.program = running.load(compiled, path, device)
        self.cache = running.empty_cache(models.MODELS[name], 1)
        self.token, self.position = np.zeros((1, 1), np.int32), np.zeros(1, np.int32)

    def step(self):
        self.token, self.position, logits, *self.cache = self.program.decode(*self.cache, self.token, self.position, LIKELIEST)
        return int(np.asarray(self.token)[0, 0])


class Jax:
    def __init__(self, name, weights):
        model = models.MODELS[name]

        def decode(weights, cache, token, position):
            logits, cache = models.forward(model, weights, cache, token, position)
            return logits.argmax(-1).astype(jnp.int32)[:, None], position + 1, cache

        self.decode = jax.jit(decode, donate_argnums=(1,))
        self.weights = {key: jnp.asarray(each) for key, each in weights.items()}
        self.cache, self.token, self.position = models.empty_cache(model, 1), jnp.zeros((1, 1), jnp.int32), jnp.zeros(1, jnp.int32)

    def step(self):
        self.token, self.position, self.cache = self.decode(self.weights, self.cache, self.token, self.position)
        return int(self.token[0, 0])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", choices=models.MODELS)
    parser.add_argument("--weights")
    parser.add_argument("--tokens", type=int, default=16)
    parser.add_argument("--device", default="local-task")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = options.weights or f"{folder}/weights.safetensors"
        if not options.weights:
            make_weights.write(models.MODELS[options.model], path)
        weights = make_weights.read(path)
        ours, theirs = Baton(options.model, path, options.device, folder), Jax(options.model, weights)
        if [ours.step() for _ in range(4)] != [theirs.step() for _ in range(4)]:
            print("the tokens differ")
        times = {"Baton": [], "jax.jit": [], "reading": []}
        for _ in range(options.tokens):
            for name, run in (("Baton", ours.step), ("jax.jit", theirs.step),
                              ("reading", functools.partial(read_s, weights, len(os.sched_getaffinity(0))))):
                begin = time.perf_counter()
                run()
                times[name].append(time.perf_counter() - begin)
    size = sum(each.nbytes for each in weights.values())
    print(f"{options.model}, f32, {len(os.sched_getaffinity(0))} processors, load {os.getloadavg()[0]:.1f}; lowered and compiled in {ours.compile_s:.1f} s")
    print(f"{'':10}{'ms a token: least':>20}{'median':>10}{'GB/s':>8}")
    for name, each in times.items():
        print(f"{name:10}{min(each) * 1e3:20.1f}{median(each) * 1e3:10.1f}{size / min(each) / 1e9:8.1f}")


if __name__ == "__main__":
    main()
