#!/usr/bin/env python3
"""How long a token takes: bench.py 124M [--weights=FILE] [--tokens=16] [--device=local-task] [--kind=f32]

Baton beside jax.jit of the same function and, where it is installed and for GPT-2 in f32, PyTorch, on the same processors, by turns; beside them, how
long it takes to read as many bytes as the weights and the cache have: the fastest of the readers that are here. Prints each term.
"""
import argparse
import concurrent.futures
import dataclasses
import os
import pathlib
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import running  # noqa: E402

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import model as models  # noqa: E402
import numpy as np  # noqa: E402
import weights as files  # noqa: E402

LIKELIEST = np.array([[0, 0, 1, 0]], np.float32)
THREADS = len(os.sched_getaffinity(0))


class NumpyReader:
    """Dot products of arrays with themselves, a share for each thread."""

    def __init__(self, arrays, threads):
        self.parts = [np.array_split(each, threads) for each in arrays]
        self.pool = concurrent.futures.ThreadPoolExecutor(threads)

    def step(self):
        for parts in self.parts:
            list(self.pool.map(lambda part: np.dot(part, part), parts))


class JaxReader:
    def __init__(self, arrays):
        self.arrays, self.sums = [jnp.asarray(each) for each in arrays], jax.jit(lambda arrays: [each.sum() for each in arrays])
        self.step()

    def step(self):
        jax.block_until_ready(self.sums(self.arrays))


class TorchReader:
    def __init__(self, arrays, torch):
        self.arrays = [torch.from_numpy(np.array(each)) for each in arrays]

    def step(self):
        for each in self.arrays:
            each.sum()


class Torch:
    """GPT-2 as one writes it there: products and attention of the library, over what is kept so far."""

    def __init__(self, model, weights, torch):
        self.model, self.torch = model, torch
        self.weights = {name: torch.from_numpy(np.array(each.T if ".c_" in name and each.ndim == 2 else each, order="C")) for name, each in weights.items()}
        self.cache = torch.zeros(model.layers, 2, model.heads, model.context, model.head)
        self.token, self.position = 0, 0

    def step(self):
        torch, w, functional = self.torch, self.weights, self.torch.nn.functional

        def linear(x, name):
            return functional.linear(x, w[f"{name}.weight"], w[f"{name}.bias"])

        def norm(x, name):
            return functional.layer_norm(x, (self.model.width,), w[f"{name}.weight"], w[f"{name}.bias"], self.model.epsilon)

        with torch.inference_mode():
            x = w["wte.weight"][self.token][None] + w["wpe.weight"][self.position][None]
            for i in range(self.model.layers):
                q, k, v = linear(norm(x, f"h.{i}.ln_1"), f"h.{i}.attn.c_attn").view(3, self.model.heads, 1, self.model.head)
                kept = self.cache[i]
                kept[0, :, self.position], kept[1, :, self.position] = k[:, 0], v[:, 0]
                until = kept[:, :, :self.position + 1]
                mixed = functional.scaled_dot_product_attention(q[None], until[:1], until[1:])
                x = x + linear(mixed.reshape(1, -1), f"h.{i}.attn.c_proj")
                x = x + linear(functional.gelu(linear(norm(x, f"h.{i}.ln_2"), f"h.{i}.mlp.c_fc"), approximate="tanh"), f"h.{i}.mlp.c_proj")
            self.token = int((norm(x, "ln_f") @ w["wte.weight"].T).argmax())
            self.position += 1
        return self.token


class Baton:
    def __init__(self, model, path, device, folder):
        begin = time.perf_counter()
        compiled = running.compiled(model, folder, target=running.target_of(device))
        self.compile_s = time.perf_counter() - begin
        self.program = running.load(compiled, path, device)
        self.cache = running.empty_cache(model, 1)
        self.token, self.position = np.zeros((1, 1), np.int32), np.zeros(1, np.int32)

    def step(self):
        self.token, self.position, _, *self.cache = self.program.decode(*self.cache, self.token, self.position, LIKELIEST)
        return int(np.asarray(self.token)[0, 0])


class Jax:
    def __init__(self, model, weights):
        def decode(weights, cache, token, position):
            logits, cache = models.forward(model, weights, cache, token, position)
            return logits.argmax(-1).astype(jnp.int32)[:, None], position + 1, cache

        self.decode = jax.jit(decode, donate_argnums=(1,))
        self.weights = {key: jnp.asarray(each) for key, each in weights.items()}
        self.cache, self.token, self.position = models.empty_cache(model, 1), jnp.zeros((1, 1), jnp.int32), jnp.zeros(1, jnp.int32)

    def step(self):
        self.token, self.position, self.cache = self.decode(self.weights, self.cache, self.token, self.position)
        return int(self.token[0, 0])


def contenders(model, weights, ours):
    """What decodes, and what only reads, by name."""
    try:
        import torch
        torch.set_num_threads(THREADS)
    except ImportError as error:
        print(f"skipped: PyTorch: {error}")
        torch = None
    decoding = {"Baton": ours, "jax.jit": Jax(model, weights)}
    if torch and model.kind == "f32" and not model.groups:
        decoding["PyTorch"] = Torch(model, weights, torch)
    # The weights' bytes, as f32 whatever they are; and as many as the cache has.
    arrays = [np.ascontiguousarray(each).reshape(-1).view(np.uint8) for each in weights.values()]
    arrays = [np.resize(each, each.size // 4 * 4).view(np.float32) for each in arrays] + [each.view(np.uint8).reshape(-1).view(np.float32) for each in running.empty_cache(model, 1)]
    arrays = [np.nan_to_num(each, posinf=0, neginf=0) if model.kind != "f32" else each for each in arrays]
    reading = {"NumPy reads": NumpyReader(arrays, THREADS), "jax.jit reads": JaxReader(arrays)}
    if torch:
        reading["PyTorch reads"] = TorchReader(arrays, torch)
    return decoding, reading, sum(each.nbytes for each in arrays)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", help=f"{', '.join(models.MODELS)}, or a folder with config.json and model.safetensors")
    parser.add_argument("--weights", help="the whole model's, in f32")
    parser.add_argument("--tokens", type=int, default=16)
    parser.add_argument("--kind", choices=("f32", "bf16", "int8"), default="f32")
    parser.add_argument("--device", default="local-task")
    options = parser.parse_args()
    whole = files.find(options.model)
    model = dataclasses.replace(whole, kind=options.kind)
    with tempfile.TemporaryDirectory() as folder:
        path = options.weights or f"{folder}/weights.safetensors"
        if not options.weights:
            files.write_random(whole, path)
        if options.kind != "f32":
            files.prepare(model, path, f"{folder}/{options.kind}.safetensors")
            path = f"{folder}/{options.kind}.safetensors"
        weights = files.read(path)
        ours = Baton(model, path, options.device, folder)
        decoding, reading, size = contenders(model, weights, ours)
        firsts = {name: [each.step() for _ in range(4)] for name, each in decoding.items()}
        for name, tokens in firsts.items():
            if tokens != firsts["Baton"]:
                print(f"{name} gives {tokens}, Baton {firsts['Baton']}")
        times = {name: [] for name in (*decoding, *reading)}
        for _ in range(options.tokens):
            for name, each in (decoding | reading).items():
                begin, begin_cpu = time.perf_counter(), time.process_time()
                each.step()
                times[name].append((time.perf_counter() - begin, time.process_time() - begin_cpu))
    least = {name: min(wall for wall, _ in each) for name, each in times.items()}
    print(f"{options.model}, {options.kind}, {THREADS} processors, load {os.getloadavg()[0]:.1f}, {options.tokens} tokens; lowered and compiled in {ours.compile_s:.1f} s")
    print(f"{'':14}{'ms: least':>10}{'median':>8}{'of processors: least':>22}{'GB/s':>7}")
    for name, each in times.items():
        print(f"{name:14}{least[name] * 1e3:10.1f}{running.median([wall for wall, _ in each]) * 1e3:8.1f}{min(cpu for _, cpu in each) * 1e3:22.1f}{size / least[name] / 1e9:7.1f}")
    reader = min(reading, key=least.get)
    print(f"{size / 1e6:.0f} MB of weights and cache at {size / least[reader] / 1e9:.1f} GB/s ({reader}) are {least[reader] * 1e3:.1f} ms; a token takes "
          f"{least['Baton'] / least[reader]:.2f} times that")
    best = min((name for name in decoding if name != "Baton"), key=least.get)
    print(f"and {least['Baton'] / least[best]:.2f} times the best of the others ({best})")


if __name__ == "__main__":
    main()
