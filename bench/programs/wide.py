#!/usr/bin/env python3
"""The programs of wide_programs.py on a GPU, beside PyTorch eager in a CUDA graph, where it can be captured: programs of many kinds, to see where one falls off a cliff.

    bench/programs/wide.py pack folder      here: compiles them (needs JAX); the folder goes to a machine with a GPU
    bench/programs/wide.py run folder --tools=folder     there: needs PyTorch and Baton's tools

`--libraries=cusolver,cudnn` gives factorizations and convolutions to these plugins, which stand beside the tools; `cudnn?benchmark=1` passes
parameters, when programs run.

Inputs are made from a seed. Answers are compared with PyTorch's in float64 before anything is timed; TF32 is off. A time is one
call that is waited for, as in gpu.py.
"""
import argparse
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(HERE))
from gpu import Baton, Torch, distance, table  # noqa: E402
from wide_programs import PROGRAMS  # noqa: E402


def pack(folder, tools, only, libraries):
    import jax
    from lower import baton_jax

    folder.mkdir(parents=True, exist_ok=True)
    failed = 0
    # Some are called by what JAX lowers to, and others by baton-compile, which has a file about each.
    by_compiler = [name for name in libraries if (tools.parent / "libraries" / f"{name}.library.mlir").exists()]
    by_jax = [name for name in libraries if name not in by_compiler]
    flags = [f"--library={','.join(by_compiler)}"] if by_compiler else []
    for name, program in chosen(only):
        types = [jax.ShapeDtypeStruct(shape, np.dtype(kind)) for _, shape, kind, _ in program.inputs]
        source = folder / f"{name}.mlir"
        source.write_text(baton_jax().lower(program.in_jax, *types, libraries=by_jax))
        done = subprocess.run([tools / "baton-compile", source, "--target-device=cuda", *flags, "-o", folder / f"{name}.bvm"],
                              capture_output=True, text=True, check=False)
        failed += done.returncode != 0
        if done.stderr:
            print(f"{name}: {done.stderr.strip()[-300:]}")
    return 1 if failed else 0


def plugin(tools, library):
    name, question, parameters = library.partition("?")
    return f"{tools / name}.so{question}{parameters}"


def chosen(only):
    return [(name, program) for name, program in PROGRAMS.items() if not only or name in only]


def inputs_of(program):
    source = np.random.default_rng(7)
    make = {"normal": lambda shape, _: source.standard_normal(shape, dtype=np.float32), "uniform": lambda shape, _: source.random(shape, dtype=np.float32),
            "integers": lambda shape, end: source.integers(0, end, shape)}
    return [make[which](shape, end).astype(kind) for which, shape, kind, end in program.inputs]


def row_of(name, program, options):
    import torch

    inputs = inputs_of(program)
    with tempfile.TemporaryDirectory() as temporary, torch.no_grad():
        baton = Baton(options.tools, options.device, pathlib.Path(temporary), inputs, options.folder / f"{name}.bvm",
                      [plugin(options.tools, library) for library in options.libraries])
        placed = [torch.from_numpy(value).cuda() for value in inputs]
        wanted = program.in_torch(*[value.double() if value.is_floating_point() else value for value in placed]).cpu().numpy()
        try:
            error = distance(baton.answer(), wanted)
            ours = baton.call_us()
        except (RuntimeError, subprocess.TimeoutExpired) as problem:
            return [name, "-", "-", "-", str(problem)[-90:]]
        theirs = Torch(program.in_torch, placed, program.in_graph).call_us()
    torch.cuda.empty_cache()
    told = f"{error:.1e}" if error <= program.tolerance else f"WRONG: {error:.1e}"
    return [name, *map(table.figure, (ours, theirs, ours / theirs)), told]


def run(options):
    import torch

    torch.backends.cudnn.benchmark, torch.backends.cudnn.allow_tf32 = True, False
    rows = [row_of(name, program, options) for name, program in chosen(options.only)]
    print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}, TF32 off, {options.device}\n")
    print(table.render(["program", "Baton us", "PyTorch us", "ratio", "off by"], rows))
    return 1 if any(row[1] == "-" or row[-1].startswith("WRONG") for row in rows) else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["pack", "run"])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--tools", type=pathlib.Path, default=ROOT / "build/release/bin")
    parser.add_argument("--device", default="cuda?cuda_mode=graph")
    parser.add_argument("--libraries", type=lambda names: names.split(","), default=[])
    parser.add_argument("--only", type=lambda names: names.split(","), default=[])
    options = parser.parse_args()
    return pack(options.folder, options.tools, options.only, options.libraries) if options.what == "pack" else run(options)


if __name__ == "__main__":
    raise SystemExit(main())
