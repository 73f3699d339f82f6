#!/usr/bin/env python3
"""Kernels whose text promises more memory than their bindings have, compiled with --sanitize: each kind of access at
indices that are inside, just outside, before, and far away.

    sanitize.py make [cpu|cuda|vulkan] > sanitize.mlir
    sanitize.py check [cpu|cuda|vulkan] [--every=N] baton-run-module --module=sanitize.bvm --device=...

A binding is four elements long (100 where it says so), and the kernel's text says 1024. What is inside is computed as ever; what is outside gives
a status that names the kernel, the binding, the byte, the size and the line. On a GPU threads run what loops over elements: any
of its accesses may be the first.
"""
import concurrent.futures
import os
import re
import subprocess
import sys

kernels = []  # (name, binding, body, [(index, None or (verb, bytes, object, byte, size))])


def kernel(name, body, cases, kind="f32", count=4):
    kernels.append((name, "%dx%s" % (count, kind), body.strip("\n"), cases))


def scalar(verb, number, size):
    """Indices of one element of `size` bytes."""
    where = "binding %d" % number
    good = [(index, None) for index in (0, 3)]
    bad = [(index, (verb, size, where, index * size, 4 * size)) for index in (4, 5, 1000, -1, -4, 2**31 - 1, -2**31)]
    return good + bad


WIDTH = {"i8": 1, "i16": 2, "f16": 2, "bf16": 2, "i32": 4, "f32": 4, "i64": 8, "f64": 8}
for kind, size in WIDTH.items():
    kernel("load_" + kind, """
          %x = memref.load %in[%i] : memref<1024xKIND>
          memref.store %x, %out[%zero] : memref<1024xKIND>""", scalar("reads", 0, size), kind)
    kernel("store_" + kind, """
          %x = memref.load %in[%zero] : memref<1024xKIND>
          memref.store %x, %out[%i] : memref<1024xKIND>""", scalar("writes", 1, size), kind)
# A loop that leaves its memory on the way: the first element outside is told.
kernel("loop", """
          scf.for %k = %zero to %i step %one {
            %x = memref.load %in[%k] : memref<1024xf32>
            memref.store %x, %out[%k] : memref<1024xf32>
          }""", [(0, None), (4, None), (5, ("reads", 4, "binding 0", 16, 16)), (900, ("reads", 4, "binding 0", 16, 16))])
kernel("vector_load", """
          %x = vector.load %in[%i] : memref<1024xf32>, vector<2xf32>
          vector.store %x, %out[%zero] : memref<1024xf32>, vector<2xf32>""",
       [(0, None), (2, None), (3, ("reads", 8, "binding 0", 12, 16)), (4, ("reads", 8, "binding 0", 16, 16)),
        (-1, ("reads", 8, "binding 0", -4, 16)), (2**31 - 1, ("reads", 8, "binding 0", 4 * (2**31 - 1), 16))])
kernel("vector_store", """
          %x = vector.load %in[%zero] : memref<1024xf32>, vector<2xf32>
          vector.store %x, %out[%i] : memref<1024xf32>, vector<2xf32>""",
       [(2, None), (3, ("writes", 8, "binding 1", 12, 16)), (-2, ("writes", 8, "binding 1", -8, 16))])
# Of eight lanes the first ones: only those count.
MASKED = [(0, None), (1, None), (4, None), (5, (None, 4, None, 16, 16)), (8, (None, 4, None, 16, 16))]


def masked(verb, where):
    return [(index, bad and (verb, bad[1], where, bad[3], bad[4])) for index, bad in MASKED]


kernel("masked_load", """
          %mask = vector.create_mask %i : vector<8xi1>
          %none = arith.constant dense<0.0> : vector<8xf32>
          %x = vector.maskedload %in[%zero], %mask, %none : memref<1024xf32>, vector<8xi1>, vector<8xf32> into vector<8xf32>
          %y = vector.extract %x[0] : f32 from vector<8xf32>
          memref.store %y, %out[%zero] : memref<1024xf32>""", masked("reads", "binding 0"))
kernel("masked_store", """
          %mask = vector.create_mask %i : vector<8xi1>
          %x = arith.constant dense<1.0> : vector<8xf32>
          vector.maskedstore %out[%zero], %mask, %x : memref<1024xf32>, vector<8xi1>, vector<8xf32>""",
       masked("writes", "binding 1"))
LANES = """
          %word = arith.index_cast %i : index to i32
          %first = arith.constant dense<[0, 1, 2, 3]> : vector<4xi32>
          %all = vector.broadcast %word : i32 to vector<4xi32>
          %at = arith.addi %first, %all : vector<4xi32>
          %mask = arith.constant dense<[true, true, false, true]> : vector<4xi1>"""
GATHERED = [(0, None), (1, (None, 4, None, 16, 16)), (3, (None, 4, None, 16, 16)), (2, (None, 4, None, 20, 16)),
            (500, (None, 4, None, 2000, 16))]


def gathered(verb, where):
    return [(index, bad and (verb, bad[1], where, bad[3], bad[4])) for index, bad in GATHERED]


kernel("gather", LANES + """
          %none = arith.constant dense<0.0> : vector<4xf32>
          %x = vector.gather %in[%zero] [%at], %mask, %none
              : memref<1024xf32>, vector<4xi32>, vector<4xi1>, vector<4xf32> into vector<4xf32>
          %y = vector.extract %x[0] : f32 from vector<4xf32>
          memref.store %y, %out[%zero] : memref<1024xf32>""", gathered("reads", "binding 0"))
kernel("scatter", LANES + """
          %x = arith.constant dense<1.0> : vector<4xf32>
          vector.scatter %out[%zero] [%at], %mask, %x : memref<1024xf32>, vector<4xi32>, vector<4xi1>, vector<4xf32>""",
       gathered("writes", "binding 1"))
kernel("atomic", """
          %x = arith.constant 1 : i32
          %y = memref.atomic_rmw addi %x, %out[%i] : (i32, memref<1024xi32>) -> i32""",
       scalar("changes", 1, 4), "i32")
kernel("temporary", """
          %room = memref.alloca() : memref<8xf32>
          %x = memref.load %in[%zero] : memref<1024xf32>
          memref.store %x, %room[%i] : memref<8xf32>
          %y = memref.load %room[%i] : memref<8xf32>
          memref.store %y, %out[%zero] : memref<1024xf32>""",
       [(0, None), (7, None), (8, ("writes", 4, "a temporary", 32, 32)), (-1, ("writes", 4, "a temporary", -4, 32))])
# Sizes that overflow on the way: 2^30 rows of 2^30 elements, whose address wraps to one before the binding or beyond.
kernel("rows", """
          %wide = hal.interface.binding.subspan layout(#layout) binding(0) : memref<4x1073741824xf32>
          %x = memref.load %wide[%i, %zero] : memref<4x1073741824xf32>
          memref.store %x, %out[%zero] : memref<1024xf32>""",
       [(0, None), (1, ("reads", 4, "binding 0", 2**32, 16)), (-1, ("reads", 4, "binding 0", -2**32, 16)),
        (2**31 - 1, ("reads", 4, "binding 0", 2**63 - 2**32, 16)), (-2**31, ("reads", 4, "binding 0", -2**63, 16))])


# As programs are compiled: loops that the compiler makes itself, which LLVM vectorizes where it can. All of 1024 elements.
EACH = """
          linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
              ins(%in : memref<1024xf32>) outs(%out : memref<1024xf32>) {
          ^bb0(%a: f32, %b: f32):
            OPERATIONS
            linalg.yield %r : f32
          }"""
CHAIN = "\n            ".join("%%%s = arith.%s %%%s, %%a : f32" % (to, op, at) for to, op, at in [
    ("p", "mulf", "a"), ("q", "addf", "p"), ("s", "mulf", "q"), ("t", "subf", "s"), ("r", "addf", "t")])
# A binding of 100: whole vectors fit, and the end lies within one.
for count in (4, 100):
    outside = [(0, ("reads", 4, "binding 0", 4 * count, 4 * count))]
    for name, operations in (("each", "%r = arith.addf %a, %a : f32"), ("chain", CHAIN)):
        kernel("%s_%d" % (name, count), EACH.replace("OPERATIONS", operations), outside, count=count)
kernel("sum", """
          %none = arith.constant 0.0 : f32
          memref.store %none, %out[%zero] : memref<1024xf32>
          %sum = memref.subview %out[0] [1] [1] : memref<1024xf32> to memref<f32>
          linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>], iterator_types = ["reduction"]}
              ins(%in : memref<1024xf32>) outs(%sum : memref<f32>) {
          ^bb0(%a: f32, %b: f32):
            %r = arith.addf %a, %b : f32
            linalg.yield %r : f32
          }""", [(0, ("reads", 4, "binding 0", 16, 16))])


TARGETS = {"cpu": ("local", "llvm-cpu", "embedded-elf-x86_64"), "cuda": ("cuda", "cuda", "cuda-nvptx-fb"),
           "vulkan": ("vulkan", "vulkan-spirv", "vulkan-spirv-fb")}
# What a target has no code for.
REFUSED = {"cpu": [], "cuda": [], "vulkan": ["atomic", "masked_load", "masked_store", "gather", "scatter"]}


def kernels_of(target):
    return [each for each in kernels if each[0] not in REFUSED[target]]


def print_program(target):
    print("""#code = #hal.executable.target<"%s", "%s">
#device = #hal.device.target<"%s", [#code]> : !hal.device
#layout = #hal.pipeline.layout<constants = 1, bindings = [
  #hal.pipeline.binding<storage_buffer, ReadOnly>, #hal.pipeline.binding<storage_buffer>
]>
module @lying attributes {hal.device.targets = [#device]} {
  hal.executable private @kernels {
    hal.executable.variant public @code target(#code) {""" % (*TARGETS[target][1:], TARGETS[target][0]))
    for ordinal, (name, _, _, _) in enumerate(kernels_of(target)):
        print("      hal.executable.export public @%s ordinal(%d) layout(#layout)" % (name, ordinal))
    print("      builtin.module {")
    for name, binding, body, _ in kernels_of(target):
        kind = binding.split("x")[1]
        print("""        func.func @%s() {
          %%zero = arith.constant 0 : index
          %%one = arith.constant 1 : index
          %%signed = hal.interface.constant.load layout(#layout) ordinal(0) : i32
          %%i = arith.index_cast %%signed : i32 to index
          %%in = hal.interface.binding.subspan layout(#layout) binding(0) : memref<1024x%s>
          %%out = hal.interface.binding.subspan layout(#layout) binding(1) : memref<1024x%s>
%s
          return
        }""" % (name, kind, kind, body.replace("KIND", kind)))
    print("      }\n    }\n  }")
    for name, kind, _, _ in kernels_of(target):
        print("""  util.func public @%s(%%x: tensor<%s>, %%i: i32) -> tensor<%s> {
    %%c1 = arith.constant 1 : index
    %%0 = flow.dispatch @kernels::@%s[%%c1](%%i, %%x) : (i32, tensor<%s>) -> tensor<%s>
    util.return %%0 : tensor<%s>
  }""" % (name, kind, kind, name, kind, kind, kind))
    print("}")


PLACE = r"Kernel '%s' of executable 'kernels' (\w+) (\d+) bytes? of (.*) at byte (-?\d+), which has (\d+) bytes \(.*\.mlir:\d+:\d+\); in workgroup \(0, 0, 0\)"


def is_told(target, name, output, bad):
    told = re.search(PLACE % name, output)
    if not told or "OUT_OF_RANGE" not in output:
        return False
    verb, size, where, byte, end = told[1], int(told[2]), told[3], int(told[4]), int(told[5])
    if target == "cpu":
        return (verb, size, where, byte, end) == bad
    is_loop = name.split("_")[0] in ("loop", "each", "chain", "sum", "masked", "gather", "scatter")
    if is_loop:
        return end == bad[4] and (byte < 0 or byte + size > end)
    if bad[2] == "a temporary":  # Shared memory, maybe.
        return verb in ("reads", "writes") and byte == bad[3]
    return (verb, size, where, byte, end) == bad


def run(target, command, name, kind, index, bad):
    """What is wrong with one call; nothing when all is right."""
    done = subprocess.run(command + ["--function=" + name, "--input=%s=1" % kind, "--input=%d" % index],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60)
    if bad is None:
        good, words = done.returncode == 0, "a result"
    else:
        good = done.returncode == 1 and is_told(target, name, done.stdout, bad)
        words = "%s %s bytes of %s at byte %d, which has %d bytes" % bad
    return "" if good else "%s of %d: wanted %s, and there is (%d)\n%s" % (name, index, words, done.returncode, done.stdout)


def check(target, command, every):
    cases = [(name, kind, *case) for name, kind, _, cases in kernels_of(target) for case in cases][::every]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        wrong = [each for each in pool.map(lambda case: run(target, command, *case), cases) if each]
    print("\n".join(wrong + ["%d calls, %d wrong" % (len(cases), len(wrong))]))
    return len(wrong) != 0


if __name__ == "__main__":
    verb, *rest = sys.argv[1:]
    of = rest.pop(0) if rest and rest[0] in TARGETS else "cpu"
    every = int(rest.pop(0)[8:]) if rest and rest[0].startswith("--every=") else 1
    sys.exit(print_program(of) if verb == "make" else check(of, rest, every))
