#!/usr/bin/env python3
"""Writes the cubins of this folder, with what Triton's compiler says of them: make.py [folder].

Needs the wheel `triton` of the version that is to be in the names (3.2.0 to 3.9.0 were used: pip install triton==3.9.0), and no
GPU. The tests need neither: what this wrote is committed.
"""
import json
import os
import pathlib
import sys
import tempfile

os.environ["TRITON_DISABLE_LINE_INFO"] = "1"  # Line tables name the folder of this file.
os.environ["TRITON_CACHE_DIR"] = tempfile.mkdtemp()

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


@triton.jit
def scale_add(x, y, factor, count, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < count
    tl.store(y + at, tl.load(x + at, mask=inside) * factor + tl.load(y + at, mask=inside), mask=inside)


@triton.jit
def row_sums(count, x, sums, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    row = tl.program_id(0)
    tl.store(sums + row, tl.sum(tl.load(x + row * count + at, mask=at < count, other=0.0), axis=0))


# Since Triton 3.6: pointers behind numbers, a grid of two extents with memory for each program, and a descriptor that the caller makes.
@triton.jit
def between(pair, count, out, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(pair[0] + at, mask=at < count) + pair[1], mask=at < count)


@triton.jit
def tiles(x, out, rows, columns, BLOCK: tl.constexpr):
    source = tl.make_tensor_descriptor(x, shape=[rows, columns], strides=[columns, 1], block_shape=[BLOCK, BLOCK])
    target = tl.make_tensor_descriptor(out, shape=[rows, columns], strides=[columns, 1], block_shape=[BLOCK, BLOCK])
    at = [tl.program_id(0) * BLOCK, tl.program_id(1) * BLOCK]
    target.store(at, source.load(at) * 2)


@triton.jit
def describe(source, out, columns, BLOCK: tl.constexpr):
    row, column = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK), tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    values = source.load([tl.program_id(0) * BLOCK, tl.program_id(1) * BLOCK])
    tl.store(out + row[:, None] * columns + column[None, :], values * 2)


KERNELS = [
    (scale_add, {"x": "*fp32", "y": "*fp32", "factor": "fp32", "count": "i32"}, {"BLOCK": 256}, {"num_warps": 4}),
    (row_sums, {"count": "i32", "x": "*fp32", "sums": "*fp32"}, {"BLOCK": 1024}, {"num_warps": 8}),
]
if tuple(map(int, triton.__version__.split(".")[:2])) >= (3, 6):
    KERNELS += [
        (between, {"pair": ("*fp32", "fp32"), "count": "i32", "out": "*fp32"}, {"BLOCK": 128}, {"num_warps": 1}),
        (tiles, {"x": "*fp32", "out": "*fp32", "rows": "i32", "columns": "i32"}, {"BLOCK": 32}, {"num_warps": 4}),
        (describe, {"source": "tensordesc<fp32[32,32]>", "out": "*fp32", "columns": "i32"}, {"BLOCK": 32}, {"num_warps": 4}),
    ]


def source(function, signature, constants):
    try:  # 3.3 and later name constants in the signature.
        return ASTSource(fn=function, signature=signature | {name: "constexpr" for name in constants}, constexprs=constants)
    except TypeError:
        return ASTSource(fn=function, signature=signature, constants=constants)


def main(folder):
    version = "_".join(triton.__version__.split(".")[:2])
    for function, signature, constants, options in KERNELS:
        kernel = triton.compile(source(function, signature, constants), target=GPUTarget("cuda", 90, 32), options=options)
        written = next(pathlib.Path(os.environ["TRITON_CACHE_DIR"]).glob(f"*/{function.__name__}.json"))
        metadata = json.loads(written.read_text())
        metadata.pop("extern_libs", None)  # Paths of the machine that this ran on.
        stem = folder / f"{function.__name__}_{version}"
        stem.with_suffix(".json").write_text(json.dumps(metadata) + "\n")
        stem.with_suffix(".cubin").write_bytes(kernel.asm["cubin"])
        if function in (between, describe):
            stem.with_suffix(".ttir").write_text(kernel.asm["ttir"])
        print(stem.name, len(kernel.asm["cubin"]), "bytes")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).parent)
