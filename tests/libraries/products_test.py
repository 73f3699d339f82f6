"""Products of matrices by OpenBLAS: what baton-compile --library takes is right against NumPy in f64, with the library, without
it, and without the plugin; and what ran is what was said.

One program holds all forms: transposed operands, batches that do and don't follow each other, bias and activation, odd sizes,
sizes that are not known, both types. Needs the tools and the plugin in BATON_TOOLS, and OpenBLAS.
"""
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, os.path.dirname(__file__))
from product_forms import forms  # noqa: E402

TOOLS = Path(os.environ["BATON_TOOLS"])
EVERY = Path(__file__).resolve().parents[1] / "golden/compile/libraries/inputs/every.library.mlir"
PLUGIN = TOOLS.parent / "libraries" / "blas.so"
DTYPES = {"f32": np.float32, "f64": np.float64}


def inputs_of(form):
    source = np.random.default_rng(sum(map(ord, form.name)))
    shapes = [form.shape(form.a), form.shape(form.b)] + ([form.shape(form.c[-1])] if form.bias else [])
    return [source.uniform(-1, 1, shape).astype(DTYPES[form.kind]) for shape in shapes]


def wanted_of(form, inputs):
    a, b, *bias = [each.astype(np.float64) for each in inputs]
    made = np.einsum(f"{form.a},{form.b}->{form.c}", a, b)
    made = made + bias[0] if bias else made
    return np.maximum(made, 0) if form.relu else made


FORMS = {form.name: form for form in forms()}


def run(command, **options):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=120, **options)
    assert done.returncode == 0, done.stderr
    return done


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    folder = tmp_path_factory.mktemp("products")
    source = folder / "products.mlir"
    source.write_text("\n".join(form.write() for form in FORMS.values()))
    done = run([TOOLS / "baton-compile", f"--library={EVERY}", "--explain", source, "-o", folder / "products.bvm"])
    return folder, done.stderr


def call(folder, form, inputs, module, device):
    words = [f"--module={module}"] if module else []  # Before the program that asks for it.
    words += [f"--device={device}", f"--module={folder / 'products.bvm'}", f"--function={form.name}", f"--output=@{folder / 'out.npy'}"]
    for i, value in enumerate(inputs):
        np.save(folder / f"in{i}.npy", value)
        words.append(f"--input=@{folder / f'in{i}.npy'}")
    done = run([TOOLS / "baton-run-module", *words])
    return np.load(folder / "out.npy"), done.stderr


@pytest.mark.parametrize("name", FORMS)
def test_agrees_with_numpy(program, name):
    folder, _ = program
    form = FORMS[name]
    inputs = inputs_of(form)
    wanted = wanted_of(form, inputs)
    near = dict(f32=2e-6, f64=1e-14)[form.kind] * max(form.sizes.values())
    ways = [(f"{PLUGIN}?report=1", "local-task"), (f"{PLUGIN}?report=1", "local-sync"), (f"{PLUGIN}?report=1&library=/nowhere.so", "local-task"),
            (None, "local-task")]
    for module, device in ways:
        given, said = call(folder, form, inputs, module, device)
        assert given.dtype == DTYPES[form.kind] and given.shape == wanted.shape
        np.testing.assert_allclose(given, wanted, rtol=0, atol=near, err_msg=f"{module} {device}")
        is_there = module is not None and "nowhere" not in module
        # What has fixed sizes is recorded when the program is loaded, the other forms when they are called.
        loaded = sum(each.taken and not each.open for each in FORMS.values())
        assert said.count("blas: recorded blas.gemm") == (loaded + bool(form.open) if is_there else 0), said
        assert ("blas: is not there" in said) == (module is not None and "nowhere" in module), said


def test_says_who_takes_what(program):
    _, explanation = program
    lines = explanation.splitlines()
    assert len(lines) == len(FORMS)
    for form, line in zip(FORMS.values(), lines):
        wanted = f": blas.{form.command()}, else generated" if form.taken else ", stays generated"
        assert wanted in line, f"{form.name}: {line}"


def test_a_library_that_is_none_is_named(tmp_path):
    (tmp_path / "p.mlir").write_text("func.func @f(%x: i32) -> i32 {\n  return %x : i32\n}\n")
    done = subprocess.run([TOOLS / "baton-compile", "--library=blass", tmp_path / "p.mlir", "-o", tmp_path / "p.bvm"], capture_output=True, text=True)
    assert done.returncode != 0 and "there is no library 'blass'" in done.stderr
