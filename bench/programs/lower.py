#!/usr/bin/env python3
"""Writes a program of this bench as MLIR text, lowered by the package baton.jax.

    bench/programs/lower.py mlp > mlp.mlir
    bench/programs/lower.py --all folder
"""

import argparse
import pathlib
import sys

import jax
import jax.numpy as jnp
from programs import PROGRAMS, Program, find

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tests/programs"))
from tools import baton_jax  # noqa: E402


def lower(program: Program, kind: str = "float32") -> str:
    return baton_jax().lower(jax.jit(program.function), *program.types(jnp.dtype(kind)), libraries=program.libraries)


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
