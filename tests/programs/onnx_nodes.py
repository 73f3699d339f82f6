#!/usr/bin/env python3
"""ONNX's own tests of its operators, some 1900, by way of torch-mlir: by hand, with a Python that has torch-mlir and onnx.

    onnx_nodes.py [--only=^test_gather] [--every=10] [--to=linalg|tosa] [--workers=2]

Prints each that differs, fails or takes long, then the counts. What torch-mlir itself does not take is counted, too. What may
differ: random numbers; what torch-mlir lowers to something else than ONNX means (compare with mlir-opt).
"""
import argparse
import collections
import multiprocessing
import re
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np
import onnx

warnings.simplefilter("ignore")  # The cases divide by zero while they are made.
from onnx.backend.test.case.node import collect_testcases  # noqa: E402
from torch_mlir.dialects import torch as torch_dialect  # noqa: E402
from torch_mlir.extras import onnx_importer  # noqa: E402
from torch_mlir.ir import Context  # noqa: E402

import tools  # noqa: E402

PASSES = (
    "builtin.module(func.func(convert-torch-onnx-to-torch),torch-lower-to-backend-contract,func.func(cse,canonicalize),"
    "torch-backend-to-{}-backend-pipeline)"
)
PIPELINES = {"linalg": "linalg-on-tensors", "tosa": "tosa"}
TOLERANCES = {"bfloat16": 2e-2, "float16": 4e-3}
cases = {}


def collect():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cases.update({each.name: each for each in collect_testcases(None)})


def imported(model):
    """The model in the dialect torch, as text."""
    model = onnx.shape_inference.infer_shapes(model, data_prop=True)
    context = Context()
    torch_dialect.register_dialect(context)
    info = onnx_importer.ModelInfo(model, config=onnx_importer.Config())
    module = info.create_module(context=context).operation
    onnx_importer.NodeImporter.define_function(info.main_graph, module).import_all()
    module.verify()
    return module.get_asm()


def lowered(text, to, folder):
    """The file that torch-mlir's passes make, or None."""
    source, target = folder / "torch.mlir", folder / "program.mlir"
    source.write_text(text)
    command = ["torch-mlir-opt", source, "--pass-pipeline=" + PASSES.format(PIPELINES[to]), "-o", target]
    done = subprocess.run(["timeout", "60", Path(sys.executable).parent / command[0], *command[1:]], stderr=subprocess.DEVNULL)
    return None if done.returncode else target


def array_of(value):
    return onnx.numpy_helper.to_array(value) if isinstance(value, onnx.TensorProto) else value


def difference(wanted, given):
    """Signs of integers are what programs without them don't tell."""
    if wanted.dtype.kind in "iub" and wanted.dtype.itemsize == given.dtype.itemsize:
        given = given.view(wanted.dtype)
    return tools.difference(wanted, given, TOLERANCES.get(wanted.dtype.name, 1e-3))


def outcome(task):
    """"ok", whose it is, or a sentence."""
    name, to = task
    arguments, wanted = [[array_of(each) for each in list] for list in cases[name].data_sets[0]]
    if not all(isinstance(each, (np.ndarray, np.generic)) for each in [*arguments, *wanted]):
        return "not of tensors"
    arguments, wanted = [[np.asarray(each) for each in list] for list in (arguments, wanted)]
    if any(each.dtype.kind not in "biufc" and each.dtype.name != "bfloat16" for each in [*arguments, *wanted]):
        return "not of whole bytes or floats of 16 bits and more"
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        try:
            source = lowered(imported(cases[name].model), to, folder)
        except Exception:  # What the importer says of models is not asked.
            source = None
        if not source:
            return "not for torch-mlir"
        try:
            tools.compile_program(source, folder / "program.bvm")
            given = tools.call(folder / "program.bvm", name, arguments, wanted, folder)
        except Exception as error:  # Each kind is something to look at.
            return f"{type(error).__name__}: {' '.join(str(error).split())[:240]}"
    return next((each for each in map(difference, wanted, given) if each), "ok")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="a pattern of names")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--to", choices=PIPELINES, default="linalg")
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    collect()
    names = [each for each in sorted(cases) if re.search(options.only, each)][:: options.every]
    counts = collections.Counter()
    with multiprocessing.get_context("fork").Pool(options.workers, maxtasksperchild=100) as pool:
        for name, text in zip(names, pool.imap(outcome, [(each, options.to) for each in names])):
            kind = text if text == "ok" or text.startswith("not ") else "failed"
            counts[kind] += 1
            if kind == "failed":
                print(f"{name}: {text}", flush=True)
        pool.close()
        pool.join()
    print(f"{len(names)} cases: " + ", ".join(f"{count} {kind}" for kind, count in counts.items()))
    return 1 if counts["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
