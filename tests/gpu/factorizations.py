#!/usr/bin/env python3
"""Factorizations by cuSOLVER: what tests/programs/jax_programs/libraries.py asks LAPACK for, on a GPU, beside what JAX makes on a processor.

    factorizations.py pack baton-compile FOLDER      where JAX is
    factorizations.py check baton-run-module FOLDER URI cusolver.so     on a machine with a GPU and NumPy
"""
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np


def pack(tool, folder):
    import jax
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "programs"))
    import jax_programs.libraries  # noqa: F401
    import tools
    from jax_programs import programs

    folder.mkdir(parents=True, exist_ok=True)
    packed = {}
    for name, program in programs.items():
        if program.libraries != ("lapack",):
            continue
        with jax.enable_x64(program.x64):
            wanted = [np.asarray(each) for each in jax.tree.leaves(jax.jit(program.function)(*program.arguments))]
            text = tools.baton_jax().lower(program.function, *program.arguments, libraries=("cusolver",))
        (folder / f"{name}.mlir").write_text(text)
        subprocess.run([tool, folder / f"{name}.mlir", "--target-device=cuda", "-o", folder / f"{name}.bvm"], check=True)
        for which, arrays in (("in", program.arguments), ("out", wanted)):
            for i, each in enumerate(arrays):
                np.save(folder / f"{name}.{which}{i}.npy", np.asarray(each))
        packed[name] = {"inputs": len(program.arguments), "results": len(wanted), "tolerance": program.tolerance or 1e-4,
                        "calls": "@cusolver." in text}
    assert any(each["calls"] for each in packed.values()), "no program calls cuSOLVER"
    (folder / "programs.json").write_text(json.dumps(packed))


def difference(found, wanted, tolerance):
    if found.shape != wanted.shape or found.dtype != wanted.dtype:
        return f"is {found.dtype}{found.shape} where {wanted.dtype}{wanted.shape} is wanted"
    if wanted.dtype.kind in "biu":
        return "" if np.array_equal(found, wanted) else "differs"
    scale = np.abs(wanted).max(initial=0)
    off = np.abs(found - wanted).max(initial=0)
    return "" if off <= tolerance * (scale or 1) * 1.2 else f"is off by {off:.2e}, of {scale:.2e}"


def check(tool, folder, uri, plugin):
    failed = 0
    for name, program in json.loads((folder / "programs.json").read_text()).items():
        with tempfile.TemporaryDirectory() as temporary:
            results = [pathlib.Path(temporary) / f"{i}.npy" for i in range(program["results"])]
            done = subprocess.run([tool, f"--device={uri}", f"--module={plugin}?report=1", f"--module={folder / name}.bvm", "--function=main",
                                   *(f"--input=@{folder / name}.in{i}.npy" for i in range(program["inputs"])),
                                   *(f"--output=@{each}" for each in results)], capture_output=True, text=True, timeout=120, check=False)
            told = [done.stderr.strip()[-400:]] if done.returncode else []
            if not told:
                told = [f"result {i} {text}" for i, each in enumerate(results)
                        if (text := difference(np.load(each), np.load(f"{folder / name}.out{i}.npy"), program["tolerance"]))]
            if program["calls"] and "cusolver: recorded" not in done.stderr:
                told.append("the library was not asked")
        print(f"{name}: {'; '.join(told) or 'ok'}")
        failed += bool(told)
    return 1 if failed else 0


if __name__ == "__main__":
    what, tool, folder, *rest = sys.argv[1:]
    sys.exit(pack(tool, pathlib.Path(folder)) if what == "pack" else check(tool, pathlib.Path(folder), *rest))
