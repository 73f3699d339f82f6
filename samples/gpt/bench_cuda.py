#!/usr/bin/env python3
"""How long a token takes on a GPU: bench_cuda.py 1.5B PROGRAM [--batched=PROGRAM] [--kind=bf16] [--tokens=64]

PROGRAM is what compile.py --target=cuda --prompt=N made of the model, here or elsewhere; with --batched=, one of compile.py --slots=32 is timed, too.
Beside it, with the same random weights: PyTorch in a CUDA graph, its operations as they are and compiled, and jax.jit. A token is timed twice: the
host reads each one, and it reads only the last. Below stand the two terms that a step cannot be faster than: the reading of as many bytes as the weights and the cache
have, and as many empty kernels, one after the other, as a step has commands (--commands=, as null prints them; see the README).
"""
import argparse
import dataclasses
import math
import os
import pathlib
import sys
import tempfile
import time

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
sys.path.insert(0, str(pathlib.Path(__file__).parent))
import running  # noqa: E402

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import model as models  # noqa: E402
import numpy as np  # noqa: E402
import torch  # noqa: E402
import weights as files  # noqa: E402

KINDS = {"f32": torch.float32, "bf16": torch.bfloat16}
EMPTY = 1000  # Kernels of the chain that is timed.


def write_weights(model, path):
    """Random ones, out of one pool: drawing a billion numbers takes longer than all that is timed."""
    pool = np.random.default_rng(1).standard_normal((1 << 24) + 12345, np.float32) * np.float32(0.02)
    at = 0

    def make(name, each):
        nonlocal at
        if name.endswith(".bias"):
            return np.zeros(each.shape, each.dtype)
        if len(each.shape) == 1:
            return np.ones(each.shape, each.dtype)
        at = (at + 7919) % pool.size
        return np.resize(np.roll(pool, at).astype(each.dtype), each.shape)

    files.write(path, models.shapes(model), make)


class Baton:
    def __init__(self, program, model, slots, path, device):
        self.program = running.load(program, path, device)
        self.cache = running.empty_cache(model, slots)
        self.settings = np.tile(np.array([[0, 0, 1, 0]], np.float32), (slots, 1))
        self.slots = slots
        self.restart()

    def restart(self):
        self.token, self.position = np.full((self.slots, 1), 7, np.int32), np.zeros(self.slots, np.int32)

    def step(self):
        self.token, self.position, self.logits, *self.cache = self.program.decode(*self.cache, self.token, self.position, self.settings)

    def read(self):
        return int(np.asarray(self.token)[0, 0])

    def prefill(self, tokens):
        zero = np.zeros(1, np.int32)
        last = np.array([tokens.shape[1] - 1], np.int32)
        token, _, *self.cache = self.program.prefill(*self.cache, tokens, zero, zero, last, self.settings[:1])
        return int(np.asarray(token)[0, 0])


class Jax:
    def __init__(self, model, slots, weights):
        def decode(weights, cache, token, position):
            logits, cache = models.forward(model, weights, cache, token, position)
            return logits.argmax(-1).astype(jnp.int32)[:, None], position + 1, logits, cache

        def prefill(weights, cache, tokens, last):
            zero = jnp.zeros(1, jnp.int32)
            logits, cache = models.forward(model, weights, cache, tokens, zero, zero, last)
            return logits.argmax(-1).astype(jnp.int32), cache

        self.decode, self.fill = jax.jit(decode, donate_argnums=(1,)), jax.jit(prefill, donate_argnums=(1,))
        self.weights, self.slots = weights, slots
        self.cache = models.empty_cache(model, slots)
        self.restart()

    def restart(self):
        self.token, self.position = jnp.full((self.slots, 1), 7, jnp.int32), jnp.zeros(self.slots, jnp.int32)

    def step(self):
        self.token, self.position, self.logits, self.cache = self.decode(self.weights, self.cache, self.token, self.position)

    def read(self):
        return int(self.token[0, 0])

    def prefill(self, tokens):
        token, self.cache = self.fill(self.weights, self.cache, jnp.asarray(tokens), jnp.array([tokens.shape[1] - 1], jnp.int32))
        return int(token[0])


class Torch:
    """GPT-2 as one writes it there, with a cache of one size, in a CUDA graph."""

    def __init__(self, model, slots, weights, compiled):
        self.model, self.w, self.slots, self.compiled = model, weights, slots, compiled
        shape = (slots, model.heads, model.context, model.head)
        self.cache = [(torch.zeros(shape, dtype=KINDS[model.kind], device="cuda"), torch.zeros(shape, dtype=KINDS[model.kind], device="cuda")) for _ in range(model.layers)]
        self.token = torch.full((slots, 1), 7, dtype=torch.int64, device="cuda")
        self.position = torch.zeros(1, dtype=torch.int64, device="cuda")
        self.graphs = {}

    def restart(self):
        self.token.fill_(7)
        self.position.zero_()

    def forward(self, tokens, at):
        """Tokens of all slots at the positions `at`, which are the same for each."""
        functional, w, model = torch.nn.functional, self.w, self.model
        batch, count = tokens.shape
        x = w["wte.weight"][tokens] + w["wpe.weight"][at][None]
        seen = torch.arange(model.context, device="cuda")[None, :] <= at[:, None]
        for i, (keys, values) in enumerate(self.cache):
            name = f"h.{i}"
            y = functional.layer_norm(x, (model.width,), w[f"{name}.ln_1.weight"], w[f"{name}.ln_1.bias"], model.epsilon)
            y = functional.linear(y, w[f"{name}.attn.c_attn.weight"], w[f"{name}.attn.c_attn.bias"])
            q, k, v = y.view(batch, count, 3, model.heads, model.head).permute(2, 0, 3, 1, 4)
            if count == 1:
                keys.index_copy_(2, at, k)
                values.index_copy_(2, at, v)
                y = functional.scaled_dot_product_attention(q, keys, values, attn_mask=seen)
            else:
                keys[:batch, :, :count], values[:batch, :, :count] = k, v
                y = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
            y = y.transpose(1, 2).reshape(batch, count, model.width)
            x = x + functional.linear(y, w[f"{name}.attn.c_proj.weight"], w[f"{name}.attn.c_proj.bias"])
            y = functional.layer_norm(x, (model.width,), w[f"{name}.ln_2.weight"], w[f"{name}.ln_2.bias"], model.epsilon)
            y = functional.gelu(functional.linear(y, w[f"{name}.mlp.c_fc.weight"], w[f"{name}.mlp.c_fc.bias"]), approximate="tanh")
            x = x + functional.linear(y, w[f"{name}.mlp.c_proj.weight"], w[f"{name}.mlp.c_proj.bias"])
        x = functional.layer_norm(x[:, -1], (model.width,), w["ln_f.weight"], w["ln_f.bias"], model.epsilon)
        return functional.linear(x, w["wte.weight"])

    def _step(self):
        self.logits = self._forward(self.token, self.position)
        self.token.copy_(self.logits.argmax(-1, keepdim=True))
        self.position.add_(1)

    def _captured(self, name, function):
        if name not in self.graphs:
            self._forward = torch.compile(self.forward, fullgraph=True, dynamic=False) if self.compiled else self.forward
            with torch.inference_mode():
                side = torch.cuda.Stream()
                with torch.cuda.stream(side):
                    for _ in range(3):
                        function()
                side.synchronize()
                graph = torch.cuda.CUDAGraph()
                with torch.cuda.graph(graph, stream=side):
                    function()
            self.graphs[name] = graph
        return self.graphs[name]

    def prepare(self):
        self._captured("step", self._step)
        self.restart()

    def step(self):
        self.graphs["step"].replay()

    def read(self):
        return int(self.token[0, 0])

    def prefill(self, tokens):
        if "prefill" not in self.graphs:
            self.prompt = torch.from_numpy(tokens.astype(np.int64)).cuda()
            at = torch.arange(tokens.shape[1], device="cuda")

            def fill():
                self.first = self._forward(self.prompt, at).argmax(-1)

            self._captured("prefill", fill)
        self.graphs["prefill"].replay()
        return int(self.first[0])


def timed(each, tokens):
    """Milliseconds for a token that the host reads, and for one that it does not; microseconds of a call that begins a step
    when the device has nothing to do, and behind the step before."""
    for _ in range(3):
        each.step()
        each.read()
    read, idle = [], []
    for _ in range(tokens):
        begin = time.perf_counter()
        each.step()
        idle.append(time.perf_counter() - begin)
        each.read()
        read.append(time.perf_counter() - begin)
    unread, calls = [], []
    for _ in range(4):
        begin = time.perf_counter()
        for _ in range(tokens // 4):
            before = time.perf_counter()
            each.step()
            calls.append(time.perf_counter() - before)
        each.read()
        unread.append((time.perf_counter() - begin) / (tokens // 4))
    return running.median(read) * 1e3, min(unread) * 1e3, running.median(idle) * 1e6, running.median(calls) * 1e6


def reading_ms(size):
    """The time in which a GPU reads so many bytes: PyTorch's sum of a tensor of them, in a graph."""
    data = torch.ones(size // 4, dtype=torch.float32, device="cuda")
    return replayed_ms(data.sum)


def empty_us():
    """The time of one of a chain of kernels that do next to nothing."""
    one = torch.zeros(1, device="cuda")

    def chain():
        for _ in range(EMPTY):
            one.add_(1)

    return replayed_ms(chain) * 1e3 / EMPTY


def replayed_ms(function):
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        function()
    side.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=side):
        function()
    times = []
    for _ in range(10):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        for _ in range(4):
            graph.replay()
        torch.cuda.synchronize()
        times.append((time.perf_counter() - begin) / 4)
    return min(times) * 1e3


def table(title, contenders, tokens, makers_failed):
    print(title)
    print(f"{'':22}{'ms, each read':>14}{'ms, last read':>15}{'us of a call':>14}{'behind another':>16}")
    least = {}
    for name, each in contenders.items():
        read, unread, idle, call = timed(each, tokens)
        least[name] = unread
        print(f"{name:22}{read:14.3f}{unread:15.3f}{idle:14.1f}{call:16.1f}", flush=True)
    for name, error in makers_failed.items():
        print(f"{name:22}{error}")
    return least


def compared(contenders):
    """How far first logits are from jax.jit's, of the largest."""
    for each in contenders.values():
        each.restart()
        each.step()
    logits = {name: np.asarray(each.logits.float().cpu() if isinstance(each, Torch) else each.logits).astype(np.float64) for name, each in contenders.items()}
    wanted = logits["jax.jit"]
    print("first logits off by", ", ".join(f"{name} {np.abs(each - wanted).max() / np.abs(wanted).max():.1e}" for name, each in logits.items()))


def contenders_of(model, slots, program, path, loaded, device, skip):
    made, failed = {}, {}
    makers = {"Baton": lambda: Baton(program, model, slots, path, device)}
    makers["jax.jit"] = lambda: Jax(model, slots, {name: jnp.asarray(each) for name, each in loaded.items()})
    turned = {name: torch.from_numpy(each.T.astype(np.float32) if ".c_" in name and each.ndim == 2 else each.astype(np.float32)).to(KINDS[model.kind]).cuda().contiguous() for name, each in loaded.items()}
    makers["PyTorch, graph"] = lambda: Torch(model, slots, turned, False)
    makers["PyTorch compiled"] = lambda: Torch(model, slots, turned, True)
    for name, make in makers.items():
        if name in skip:
            continue
        begin = time.perf_counter()
        try:
            made[name] = make()
            if isinstance(made[name], Torch):
                made[name].prepare()
            made[name].step()
            made[name].read()
        except Exception as error:  # noqa: BLE001 - whatever a contender has, the others are timed.
            made.pop(name, None)
            failed[name] = f"{type(error).__name__}: {str(error)[:300]}"
        print(f"{name}: ready after {time.perf_counter() - begin:.1f} s", flush=True)
    return made, failed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", help=", ".join(models.MODELS))
    parser.add_argument("program")
    parser.add_argument("--batched")
    parser.add_argument("--kind", choices=tuple(KINDS), default="bf16")
    parser.add_argument("--tokens", type=int, default=64)
    parser.add_argument("--prompt", type=int, default=1024)
    parser.add_argument("--commands", type=int, default=0, help="of a step, one after the other")
    parser.add_argument("--skip", action="append", default=[], help="a contender that is left out")
    parser.add_argument("--device", default="cuda")
    options = parser.parse_args()
    model = dataclasses.replace(models.MODELS[options.model], kind=options.kind)
    print(f"{torch.cuda.get_device_name()}, driver and PyTorch {torch.__version__}, jax {jax.__version__}, {options.model} in {options.kind}", flush=True)
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        path = f"{folder}/weights.safetensors"
        write_weights(model, path)
        loaded = {name: np.array(each) for name, each in files.read(path).items()}
        size = sum(each.nbytes for each in loaded.values())
        for slots, program in ((1, options.program), (32, options.batched)):
            if not program:
                continue
            made, failed = contenders_of(model, slots, program, path, loaded, options.device, options.skip)
            if "jax.jit" in made:
                compared(made)
            least = table(f"\n{slots} sequences, a step:" if slots > 1 else "\nOne sequence, a step:", made, options.tokens, failed)
            if slots == 1:
                cache = 2 * model.layers * math.prod((model.context, model.kept_heads, model.head)) * (2 if model.kind == "bf16" else 4)
                reading, empty = reading_ms(size + cache), empty_us()
                print(f"{(size + cache) / 1e6:.0f} MB of weights and cache are read in {reading:.3f} ms ({(size + cache) / reading / 1e9:.2f} TB/s); "
                      f"an empty kernel of a chain takes {empty:.2f} us, {options.commands} of them {options.commands * empty / 1e3:.3f} ms")
                ours = least.get("Baton", float("nan"))
                print(f"ours is {ours / (reading + options.commands * empty / 1e3):.2f} times both terms")
                prompt = (np.arange(options.prompt) % 1000).astype(np.int32)[None]
                print(f"\nPrefill of {options.prompt}, ms:")
                for name, each in made.items():
                    try:
                        tokens = [each.prefill(prompt) for _ in range(2)]
                        times = []
                        for _ in range(10):
                            begin = time.perf_counter()
                            each.prefill(prompt)
                            times.append(time.perf_counter() - begin)
                        print(f"{name:22}{min(times) * 1e3:10.2f}   token {tokens[-1]}", flush=True)
                    except Exception as error:  # noqa: BLE001
                        print(f"{name:22}{type(error).__name__}: {str(error)[:300]}", flush=True)
            others = [each for name, each in least.items() if name != "Baton"]
            if others and "Baton" in least:
                print(f"ours is {least['Baton'] / min(others):.2f} times the best of the others")
            made.clear()
            torch._dynamo.reset()


if __name__ == "__main__":
    main()
