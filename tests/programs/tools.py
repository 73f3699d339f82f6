"""How tests of this folder reach the house: the package baton.jax from its sources, and the tools of a build.

BATON_TOOLS names the folder of the tools; BATON_DEVICE the device, local-task when it is not set.
"""
import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import ml_dtypes
import numpy as np

ROOT = Path(__file__).resolve().parents[2]
TOOLS = Path(os.environ.get("BATON_TOOLS", ROOT / "build" / "release" / "bin"))
DEVICE = os.environ.get("BATON_DEVICE", "local-task")
FLAGS = os.environ.get("BATON_COMPILE_FLAGS", "").split()


def use_device(device):
    """Compiles for this device, or these with commas between them, and runs there; processes that begin later do so, too."""
    global DEVICE, FLAGS
    drivers = dict.fromkeys(each.split(":")[0].split("?")[0].split("-")[0] for each in device.split(","))
    os.environ["BATON_DEVICE"] = DEVICE = device
    FLAGS = [f"--target-device={driver}" for driver in drivers]
    os.environ["BATON_COMPILE_FLAGS"] = " ".join(FLAGS)


def on_blocks(monkeypatch):
    """Until the test ends, programs are compiled for blocks of threads and run by Vulkan, or this test is skipped."""
    monkeypatch.setenv("BATON_DEVICE", "vulkan")
    monkeypatch.setenv("BATON_COMPILE_FLAGS", "--target-device=vulkan")
    monkeypatch.setattr(sys.modules[__name__], "DEVICE", "vulkan")
    monkeypatch.setattr(sys.modules[__name__], "FLAGS", ["--target-device=vulkan"])
    if missing_devices():
        import pytest
        pytest.skip("this machine has no device for Vulkan")


def missing_devices():
    """Kinds of the devices in use that this machine has none of."""
    lines = run_tool("baton-run-module", ["--list_devices"]).splitlines()
    there = {line.split()[0].split(":")[0].split("-")[0] for line in lines if line.split()[1:2] != ["none:"]}
    return [flag.split("=")[1] for flag in FLAGS if flag.split("=")[1] not in there]


KINDS = {"bool": "i1", "bfloat16": "bf16", "complex64": "complex<f32>", "complex128": "complex<f64>"}


def baton_jax():
    """The package by its path: no native part of `baton` is needed."""
    name = "baton_jax"
    if name not in sys.modules:
        folder = ROOT / "python" / "baton" / "jax"
        spec = importlib.util.spec_from_file_location(name, folder / "__init__.py", submodule_search_locations=[str(folder)])
        sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
    return sys.modules[name]


class ToolFailed(Exception):
    pass


def run_tool(name, arguments, timeout=120):
    command = [str(TOOLS / name), *map(str, arguments)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=timeout)
    except subprocess.TimeoutExpired:
        raise ToolFailed(f"{name} did not end within {timeout} s") from None
    if done.returncode:
        raise ToolFailed(f"{name} ended with {done.returncode}: {(done.stderr + done.stdout).strip()[:1500]}")
    return done.stdout


def compile_program(source, target, *flags):
    run_tool("baton-compile", [source, "-o", target, *flags, *FLAGS])


def kind_of(dtype):
    """Baton's name of an element type."""
    dtype = np.dtype(dtype)
    return KINDS.get(dtype.name) or {"i": "i", "u": "ui", "f": "f"}[dtype.kind] + str(dtype.itemsize * 8)


def call(program, function, arguments, results, folder, libraries=()):
    """Calls a function; `results` holds arrays of the shapes and types that are expected, and so are what comes back."""
    words = [f"--module={TOOLS.parent / 'libraries' / name}.so" for name in libraries]
    words += [f"--module={program}", f"--function={function}", *(f"--device={each}" for each in DEVICE.split(","))]
    for i, argument in enumerate(arguments):
        argument = np.asarray(argument, order="C")
        path = folder / f"input{i}.bin"
        path.write_bytes(argument.tobytes())
        shape = "".join(f"{size}x" for size in argument.shape)
        words.append(f"--input={shape}{kind_of(argument.dtype)}=@{path}")
    paths = [folder / f"output{i}.{'npy' if is_standard(each) else 'bin'}" for i, each in enumerate(results)]
    run_tool("baton-run-module", words + [f"--output=@{path}" for path in paths])
    return [read(path, each) for path, each in zip(paths, results)]


def beside_jax(function, arguments, folder, *flags):
    """What JAX makes of a function, and what its program does, which is compiled with these flags."""
    import jax
    with jax.enable_x64(True):
        wanted = [np.asarray(each) for each in jax.tree.leaves(jax.jit(function)(*arguments))]
        text = baton_jax().lower(function, *arguments)
    (folder / "program.mlir").write_text(text)
    compile_program(folder / "program.mlir", folder / "program.bvm", *flags)
    return wanted, call(folder / "program.bvm", "main", arguments, wanted, folder)


def differences(wanted, given, tolerance):
    """A sentence for each result that is off."""
    return [f"{i}: {told}" for i, pair in enumerate(zip(wanted, given)) if (told := difference(*pair, tolerance))]


def is_standard(array):
    return array.dtype.kind in "biuf" and array.dtype != ml_dtypes.bfloat16 and array.dtype.itemsize <= 8 and array.dtype.name[0] != "v"


def read(path, like):
    if path.suffix == ".npy":
        return np.load(path)
    return np.frombuffer(path.read_bytes(), like.dtype).reshape(like.shape)


TOLERANCES = {"float16": 4e-3, "bfloat16": 2e-2, "float32": 2e-5, "complex64": 2e-5, "float64": 1e-12, "complex128": 1e-12}


def difference(wanted, given, tolerance=None):
    """A sentence about where two arrays differ most, or an empty one."""
    if wanted.shape != given.shape:
        return f"has the shape {given.shape}, wanted is {wanted.shape}"
    if wanted.dtype != given.dtype:
        return f"holds {given.dtype}, wanted is {wanted.dtype}"
    if wanted.size == 0:
        return ""
    if wanted.dtype.kind in "biu":
        off = np.argwhere(wanted != given)
        return "" if not len(off) else _at(tuple(off[0]), wanted, given, len(off))
    wide = np.complex128 if wanted.dtype.kind == "c" else np.float64
    a, b = wanted.astype(wide), given.astype(wide)
    finite = np.isfinite(a)
    tolerance = TOLERANCES[wanted.dtype.name] if tolerance is None else tolerance
    scale = np.abs(a[finite]).max() if finite.any() else 0
    with np.errstate(invalid="ignore"):
        near = (np.abs(a - b) <= tolerance * np.abs(a) + tolerance / 5 * scale) | (a == b) | (np.isnan(a) & np.isnan(b))
    off = np.argwhere(~near)
    return "" if not len(off) else _at(tuple(off[0]), wanted, given, len(off))


def _at(place, wanted, given, count):
    place = tuple(int(i) for i in place)
    return f"{list(place)} is {given[place]}, wanted is {wanted[place]}; {count} of {wanted.size} are off"


def np_bfloat16():
    return np.dtype(ml_dtypes.bfloat16)
