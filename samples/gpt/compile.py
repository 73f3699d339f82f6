#!/usr/bin/env python3
"""Compiles a model to one file: compile.py 124M -o gpt.bvm

    prefill(cache, tokens[1, P], positions[1], slots[1], last[1], settings[1, 4]) -> next[1, 1], logits[1, V], cache
    decode(cache, tokens[B, 1], positions[B], settings[B, 4]) -> next[B, 1], positions + 1, logits[B, V], cache

The cache, a tensor of keys and one of values for each layer, is written in place. Weights are asked of --parameters=model=... by
their names when the program is loaded; with --kind= and --ranks=, those of a variant (make_weights.py). Settings are temperature, top-k, top-p and a seed for each sequence. With --loop=FILE, for
one slot, there is a second program around these:

    generate(cache, tokens[1, P], last[1], settings[1, 4], count) -> how many tokens it gave to reader.token(number, token)

It ends early where reader.token returns 0; while that function looks at a token, the next step runs.
"""
import argparse
import dataclasses
import functools
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import running  # noqa: E402, F401 - finds the package baton.

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import model as models  # noqa: E402
import weights as files  # noqa: E402

import baton  # noqa: E402
import baton.jax  # noqa: E402

FENCES = ("--execution-model=async-external",)  # A step is begun and not waited for; who looks at its tensors waits.


def _choose(command, logits, settings, positions):
    batch = logits.shape[0]
    results = (jax.ShapeDtypeStruct((batch,), jnp.int32), jax.ShapeDtypeStruct(logits.shape, logits.dtype))
    return jax.ffi.ffi_call(command, results)(logits, settings, positions)[0][:, None]


def prefill(model, weights, cache, tokens, positions, slots, last, settings):
    write = functools.partial(models.put_by_command, "gpt.append")
    logits, cache = models.forward(model, weights, cache, tokens, positions, slots, last, write, models.multiply_by_command)
    return _choose("gpt.sample", logits, settings, positions + last), logits, cache


def decode(model, weights, cache, tokens, positions, settings):
    write = functools.partial(models.put_by_command, "gpt.append")
    logits, cache = models.forward(model, weights, cache, tokens, positions, write=write, multiply=models.multiply_by_command)
    return _choose("gpt.sample", logits, settings, positions), positions + 1, logits, cache


def arguments(model, slots, prompt):
    """Shapes of weights and cache, and of what else prefill and decode take."""
    weights, cache = models.shapes(model), jax.eval_shape(lambda: models.empty_cache(model, slots))

    def of(kind, *shape):
        return jax.ShapeDtypeStruct(shape, kind)

    return weights, cache, {
        "prefill": (of(jnp.int32, 1, prompt), *[of(jnp.int32, 1)] * 3, of(jnp.float32, 1, 4)),
        "decode": (of(jnp.int32, slots, 1), of(jnp.int32, slots), of(jnp.float32, slots, 4))}


def _exported(text, name, weights):
    """What JAX made as functions of a bigger module: its `main` is `name`, and takes the weights out of globals."""
    body = text[text.index("\n") + 1:text.rstrip().rindex("}")]
    maps = "".join(re.findall(r"^#.*\n", text, re.MULTILINE))
    if maps:
        body = body[body.index("func.func"):] if body.startswith("#") else body
    head = re.search(r"func\.func public @main\((.*?)\) -> \((.*)\) \{\n", body)
    taken = re.split(r", (?=%arg)", head.group(1))
    results = re.sub(r"iree\.abi\.tied = (\d+)", lambda each: f"iree.abi.tied = {int(each.group(1)) - len(weights)}", head.group(2))
    loads = "".join(f"    {argument.split(':')[0]} = util.global.load @\"{weight}\" : {argument.split(': ', 1)[1]}\n"
                    for weight, argument in zip(sorted(weights), taken))
    return (f"{body[:head.start()]}func.func public @{name}({', '.join(taken[len(weights):])}) -> ({results}) {{\n{loads}{body[head.end():]}")


NAMES = {"float32": "f32", "bfloat16": "bf16", "int8": "i8"}


def _parameters(weights, prefix):
    """Globals that the initializer takes out of files, where they lie."""
    text = """  util.func private @parameters.view(!hal.device, !util.buffer, !util.buffer) -> !hal.buffer_view
  util.func private @hal.devices.get(index) -> !hal.device
"""
    for name, weight in weights.items():
        kind = f"tensor<{'x'.join(map(str, weight.shape))}x{NAMES[weight.dtype.name]}>"
        text += f"""  util.global private @"{name}" : {kind}
  util.initializer {{
    %zero = arith.constant 0 : index
    %device = util.call @hal.devices.get(%zero) : (index) -> !hal.device
    %scope = util.buffer.constant : !util.buffer = "model"
    %key = util.buffer.constant : !util.buffer = "{prefix}{name}"
    %view = util.call @parameters.view(%device, %scope, %key) : (!hal.device, !util.buffer, !util.buffer) -> !hal.buffer_view
    %weight = hal.tensor.import %view "{name}" : !hal.buffer_view -> {kind}
    util.global.store %weight, @"{name}" : {kind}
    util.return
  }}
"""
    return text


def _random(weights):
    """Globals that the initializer computes on the device: numbers that look drawn, of the size that models begin with, ones for what
    scales and zeros for what is added. For measuring: no file has to be made or read."""
    text = ""
    for seed, (name, weight) in enumerate(weights.items()):
        kind = NAMES[weight.dtype.name]
        tensor = f"tensor<{'x'.join(map(str, weight.shape))}x{kind}>"
        if len(weight.shape) == 1:
            value = f"    %weight = arith.constant dense<{'0.0' if name.endswith('.bias') else '1.0'}> : {tensor}\n"
        else:
            value = _drawn(seed, weight.shape, kind, tensor)
        text += f"""  util.global private @"{name}" : {tensor}
  util.initializer {{
{value}    util.global.store %weight, @"{name}" : {tensor}
    util.return
  }}
"""
    return text


def _drawn(seed, shape, kind, tensor):
    """A matrix of numbers between -0.035 and 0.035, whose spread is 0.02: each is its place, mixed."""
    same = "affine_map<(d0, d1) -> (d0, d1)>"
    narrow = "%scaled" if kind == "f32" else "%narrow"
    return f"""    %number_of_weight = arith.constant {seed * 40503 + 1} : i32
    %seed = util.optimization_barrier %number_of_weight : i32  // A number of the call: weights of one shape have one kernel.
    %first = arith.constant -1640531527 : i32
    %second = arith.constant 739982445 : i32
    %half = arith.constant 15 : i32
    %columns = arith.constant {shape[1]} : i32
    %size = arith.constant 1.6e-11 : f32
    %room = tensor.empty() : {tensor}
    %weight = linalg.generic {{indexing_maps = [{same}], iterator_types = ["parallel", "parallel"]}} outs(%room : {tensor}) {{
    ^bb0(%none: {kind}):
      %i = linalg.index 0 : index
      %j = linalg.index 1 : index
      %row = arith.index_cast %i : index to i32
      %column = arith.index_cast %j : index to i32
      %begin = arith.muli %row, %columns : i32
      %place = arith.addi %begin, %column : i32
      %own = arith.addi %place, %seed : i32
      %a = arith.muli %own, %first : i32
      %a_high = arith.shrui %a, %half : i32
      %b = arith.xori %a, %a_high : i32
      %c = arith.muli %b, %second : i32
      %c_high = arith.shrui %c, %half : i32
      %mixed = arith.xori %c, %c_high : i32
      %number = arith.sitofp %mixed : i32 to f32
      %scaled = arith.mulf %number, %size : f32
{"" if kind == "f32" else f"      %narrow = arith.truncf %scaled : f32 to {kind}{chr(10)}"}      linalg.yield {narrow} : {kind}
    }} -> {tensor}
"""


def loop(model, prompt):
    """The program that generates. It computes nothing but calls what starts work and returns at once."""
    cache = f"tensor<1x{model.context}x{model.kept_heads}x{model.head}x{NAMES[jnp.dtype(model.cache_kind).name]}>"
    count = 2 * model.layers
    kinds, rooms = ", ".join([cache] * count), ", ".join(f"%c{i}" for i in range(count))
    token, logits, settings = "tensor<1x1xi32>", f"tensor<1x{model.vocabulary}xf32>", "tensor<1x4xf32>"
    prefill = f"({kinds}, tensor<1x{prompt}xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>, {settings}) -> ({token}, {logits}, {kinds})"
    decode = f"({kinds}, {token}, tensor<1xi32>, {settings}) -> ({token}, tensor<1xi32>, {logits}, {kinds})"
    carried = f"i32, i32, {token}, tensor<1xi32>, {kinds}"
    return f"""module @loop {{
  func.func private @model.prefill{prefill} attributes {{iree.abi.model = "coarse-fences"}}
  func.func private @model.decode{decode} attributes {{iree.abi.model = "coarse-fences"}}
  func.func private @reader.token(%number: i32, %token: i32) -> i32
  func.func @generate({", ".join(f"%room{i}: {cache} {{iree.abi.consume}}" for i in range(count))}, %prompt: tensor<1x{prompt}xi32>, %last: tensor<1xi32>, %settings: {settings}, %count: i32) -> i32 {{
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %none = arith.constant 0 : index
    %begin = arith.constant dense<0> : tensor<1xi32>
    %ones = arith.constant dense<1> : tensor<1xi32>
    %p:{count + 2} = call @model.prefill({rooms.replace("%c", "%room")}, %prompt, %begin, %begin, %last, %settings) : {prefill}
    %at = arith.addi %last, %ones : tensor<1xi32>
    %done:{count + 4} = scf.while (%number = %zero, %go = %one, %token = %p#0, %position = %at, {", ".join(f"%c{i} = %p#{i + 2}" for i in range(count))})
        : ({carried}) -> ({carried}) {{
      %more = arith.cmpi slt, %number, %count : i32
      %wanted = arith.cmpi ne, %go, %zero : i32
      %continue = arith.andi %more, %wanted : i1
      scf.condition(%continue) %number, %go, %token, %position, {rooms} : {carried}
    }} do {{
    ^bb0(%number: i32, %go: i32, %token: {token}, %position: tensor<1xi32>, {", ".join(f"%c{i}: {cache}" for i in range(count))}):
      %d:{count + 3} = func.call @model.decode({rooms}, %token, %position, %settings) : {decode}
      %given = tensor.extract %token[%none, %none] : {token}
      %again = func.call @reader.token(%number, %given) : (i32, i32) -> i32
      %next = arith.addi %number, %one : i32
      scf.yield %next, %again, %d#0, %d#1, {", ".join(f"%d#{i + 3}" for i in range(count))} : {carried}
    }}
    return %done#0 : i32
  }}
}}
"""


def _staged(model, function):
    """Cache donated. With ranks, the program of each: shapes are those of its part, so that nothing is cut here."""
    if model.ranks > 1:
        jax.config.update("jax_num_cpu_devices", model.ranks)  # JAX counts devices; nothing runs on them.
        whole, mesh = jax.sharding.PartitionSpec(), jax.make_mesh((model.ranks,), ("ranks",), axis_types=(jax.sharding.AxisType.Auto,))
        function = jax.shard_map(function, mesh=mesh, in_specs=whole, out_specs=whole, check_vma=False)
    return jax.jit(function, donate_argnums=(1,), keep_unused=True)


def lower(model, slots, prompt, random=False):
    weights, cache, rest = arguments(model, slots, prompt)
    maps, functions = {}, ""
    for name, function in (("prefill", prefill), ("decode", decode)):
        text = baton.jax.lower(_staged(model, functools.partial(function, model)), weights, cache, *rest[name])
        text = re.sub(r" loc\(#loc\d*\)", "", text)  # Lines of this file: messages name those of the program's text.
        # Names of maps stand once in a file; those of the second function get its own.
        for old, affine in re.findall(r"^#(\w+) = (affine_map.*)$", text, re.MULTILINE):
            maps[f"{name}_{old}"] = affine
        text = re.sub(r"#(map\d*)\b", rf"#{name}_\1", re.sub(r"^#.*\n", "", text, flags=re.MULTILINE))
        functions += _declared_once(_exported(text, name, weights), name, functions)
    head = "".join(f"#{name} = {affine}\n" for name, affine in maps.items())
    return f"{head}module @model {{\n{_random(weights) if random else _parameters(weights, model.prefix)}{functions}}}\n"


def _declared_once(text, name, before):
    """Without the imports that the file has already; those that it has with another type get a name of their own."""
    for line, symbol in re.findall(r"^(  func\.func private @([\w.$]+)\(.*[^{\n]\n)", text, re.MULTILINE):
        if line in before:
            text = text.replace(line, "")
        elif f"private @{symbol}(" in before:
            text = re.sub(rf"@{re.escape(symbol)}\(", f"@{symbol}${name}(", text)
    return text


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", help=f"{', '.join(models.MODELS)}, or a folder with config.json and model.safetensors")
    parser.add_argument("-o", "--output", required=True)
    parser.add_argument("--slots", type=int, default=1, help="sequences that are decoded side by side")
    parser.add_argument("--prompt", type=int, default=16, help="tokens of a prompt that prefill takes at a time")
    parser.add_argument("--target", default="local", help="local, cuda or vulkan, or several with commas between")
    parser.add_argument("--kind", choices=("f32", "bf16", "int8"), default="f32")
    parser.add_argument("--ranks", type=int, default=1)
    parser.add_argument("--random", action="store_true", help="weights are made on the device when the program is loaded, and no file is asked for; not for int8")
    parser.add_argument("--library", action="append", default=[], help="libraries whose products are taken where they win: cublas on GPUs; again for more")
    parser.add_argument("--loop", help="where the program that generates goes")
    parser.add_argument("--mlir", help="keeps the model's text here")
    options = parser.parse_args()
    model = dataclasses.replace(models.shared(files.find(options.model), options.ranks), kind=options.kind)
    if options.random and options.kind == "int8":
        parser.error("--random makes weights of f32 and bf16, and not of int8")
    text = lower(model, options.slots, options.prompt, options.random)
    if options.mlir:
        pathlib.Path(options.mlir).write_text(text, encoding="utf-8")
    target = [f"--target-device={each}" for each in options.target.split(",")]
    baton.compile(text, flags=(*FENCES, *target, *(f"--library={each}" for each in options.library)), output=options.output)
    if options.loop:
        baton.compile(loop(model, options.prompt), flags=target, output=options.loop)


if __name__ == "__main__":
    main()
