#!/usr/bin/env python3
"""Writes a program of this bench as MLIR text, lowered by the passes that jaxlib brings along.

    bench/programs/lower.py mlp > mlp.mlir
    bench/programs/lower.py --all folder
"""

import argparse
import pathlib

import jax
import jax.numpy as jnp
from jaxlib.mlir.dialects import stablehlo
from jaxlib.mlir.passmanager import PassManager
from programs import PROGRAMS, Program, find

# From what jax.jit gives to linalg, arith, math and tensor. The simplification before takes constants together.
PASSES = ("builtin.module(inline,canonicalize,func.func(chlo-legalize-to-stablehlo),"
          "stablehlo-legalize-to-linalg,canonicalize,cse)")

stablehlo.register_stablehlo_passes()


def lower(program: Program, kind: str = "float32") -> str:
    arguments = [jax.ShapeDtypeStruct(shape, jnp.dtype(kind)) for shape in program.shapes]
    module = jax.jit(program.function).lower(*arguments).compiler_ir("stablehlo")
    with module.context:
        copy = module.operation.clone()  # JAX keeps the module, and compiles it when the function is called.
        PassManager.parse(PASSES).run(copy.operation)
        return str(copy)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", nargs="?", help="a program of programs.py")
    parser.add_argument("--all", type=pathlib.Path, metavar="FOLDER", help="write all of them there")
    parser.add_argument("--type", default="float32", help="of the elements: float32, float16, bfloat16")
    options = parser.parse_args()
    if options.all:
        options.all.mkdir(parents=True, exist_ok=True)
        for program in PROGRAMS:
            (options.all / f"{program.name}.mlir").write_text(lower(program, options.type))
    elif options.name:
        print(lower(find(options.name), options.type))
    else:
        parser.error("Say which program, or --all.")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
