"""What baton-compile tells a library of convolutions and their gradients: JAX's functions of every form give JAX's numbers with a plugin that
computes what it was told in plain loops, and without it.

Forms are drawn from a seed: dimensions, layouts, strides, paddings, dilations of both, groups, and gradients of both. Values are small
integers, whose sums are exact. One program holds many.
"""
import os
import random
import re
import subprocess
import sys
from pathlib import Path

import jax
import numpy as np
import pytest
from jax import lax

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench" / "programs"))
from lower import baton_jax  # noqa: E402

TOOLS = Path(os.environ["BATON_TOOLS"])
PLUGIN = os.environ["BATON_LOOPS"]
SPATIAL = "HWD"
# More of them by hand: BATON_SEEDS=2-20.
FIRST, LAST = map(int, os.environ.get("BATON_SEEDS", "1-1").split("-"))
SEEDS = range(FIRST, LAST + 1)


class Form:
    """One convolution: what JAX is told, and the shapes of its operands."""

    def __init__(self, source):
        rank = source.choice([1, 2, 2, 2, 3])
        spatial = SPATIAL[:rank]
        images = source.choice(["NC" + spatial, "N" + spatial + "C", spatial + "NC", "CN" + spatial])
        filters = source.choice(["OI" + spatial, spatial + "IO", "O" + spatial + "I"])
        self.groups = source.choice([1, 1, 1, 2, 3])
        inputs, outputs = source.choice([1, 2, 4]), source.choice([1, 3, 4])
        sizes = {"N": source.choice([1, 2, 5]), "C": inputs * self.groups}
        windows = {"I": inputs, "O": outputs * self.groups}
        window = [source.choice([1, 2, 3]) for _ in spatial]
        sizes |= {d: source.choice([5, 6, 8]) for d in spatial}
        windows |= dict(zip(spatial, window))
        self.image, self.filter = [sizes[d] for d in images], [windows[d] for d in filters]
        self.dilations = [source.choice([1, 1, 2]) for _ in spatial]
        reaches = [(size - 1) * step + 1 for size, step in zip(window, self.dilations)]
        self.padding = [(source.randint(0, reach - 1), source.randint(0, reach - 1)) for reach in reaches]
        self.steps = [source.choice([1, 1, 2, 3]) for _ in spatial]
        self.apart = [1] * rank
        if source.random() < 0.2:
            self.steps, self.apart = [1] * rank, [source.choice([1, 2]) for _ in spatial]
        self.layouts = (images, filters, images if source.random() < 0.8 else "NC" + spatial)
        # Images of zeros behind the others, and channels of zeros, whose filter adds nothing.
        self.more = {d: source.random() < 0.1 and (d == "N" or self.groups == 1) for d in "NC"}
        self.image = [size - (d in self.more and self.more[d] and size > 1) for d, size in zip(images, self.image)]
        self.zeros = [(0, sizes[d] - size) for d, size in zip(images, self.image)]
        self.what = source.choice(["forward", "forward", "filter", "image", "all"])

    def __call__(self, image, filters):
        image = jax.numpy.pad(image, self.zeros)

        def convolve(image, filters):
            return lax.conv_general_dilated(image, filters, self.steps, self.padding, self.apart, self.dilations, self.layouts, self.groups)

        if self.what == "forward":
            return [convolve(image, filters)]
        result, gradients = jax.vjp(convolve, image, filters)
        to_image, to_filter = gradients(result % 3)
        return {"filter": [to_filter], "image": [to_image], "all": [result, to_image, to_filter]}[self.what]

    def __repr__(self):
        return " ".join(f"{key}={value}" for key, value in vars(self).items())


def run(command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr[-2000:]
    return done


@pytest.mark.parametrize("seed", SEEDS)
def test_forms(seed, tmp_path):
    source = random.Random(seed)
    forms = [Form(source) for _ in range(20)]
    values = np.random.default_rng(seed)
    inputs = [values.integers(-3, 4, shape).astype(np.float32) for form in forms for shape in (form.image, form.filter)]

    def program(*operands):
        return [each for i, form in enumerate(forms) for each in form(operands[2 * i], operands[2 * i + 1])]

    wanted = [np.asarray(each) for each in jax.jit(program)(*inputs)]
    names = [form for form in forms for _ in range(3 if form.what == "all" else 1)]
    (tmp_path / "p.mlir").write_text(baton_jax().lower(program, *inputs))
    library = Path(__file__).with_name("loops.library.mlir")
    explained = run([TOOLS / "baton-compile", f"--library={library}", "--explain", tmp_path / "p.mlir", "-o", tmp_path / "p.bvm"]).stderr
    words = [f"--module={tmp_path / 'p.bvm'}", "--function=main", "--device=local-sync"]
    for i, value in enumerate(inputs):
        np.save(tmp_path / f"{i}.npy", value)
        words.append(f"--input=@{tmp_path / f'{i}.npy'}")
    words += [f"--output=@{tmp_path / f'out{i}.npy'}" for i in range(len(wanted))]
    for plugin in ([f"--module={PLUGIN}?report=1"], []):
        said = run([TOOLS / "baton-run-module", *plugin, *words]).stderr
        for i, (each, form) in enumerate(zip(wanted, names)):
            np.testing.assert_array_equal(np.load(tmp_path / f"out{i}.npy"), each, err_msg=f"{form} {plugin}")
        recorded = re.findall(r"loops: recorded (\w+)", said)
        assert len(recorded) == (explained.count("loops.convolution") if plugin else 0)
        if plugin:
            assert len(recorded) >= 5 and (seed > 1 or set(recorded) == {"convolution", "filter_gradient", "input_gradient"}), explained
