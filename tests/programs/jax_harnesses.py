#!/usr/bin/env python3
"""JAX's own cases of its primitives, some 5600 with all types, against JAX: by hand, where absl-py is installed beside JAX.

    jax_harnesses.py [--only=^gather] [--every=10] [--workers=2]

Prints each that differs, fails or takes long, then the counts. What may differ: the order of equal keys in sorts that are not
stable, the upper triangle of a bare Cholesky factor, which of equal elements `approx_top_k` names, the order of eigenvalues that are not sorted,
signs and phases of eigenvectors and singular vectors.
"""
import argparse
import collections
import multiprocessing
import re
import sys
import tempfile
from pathlib import Path

import jax

jax.config.update("jax_enable_x64", True)  # Before the cases are made: their types depend on it.

import numpy as np  # noqa: E402
from jax._src.internal_test_util.test_harnesses import all_harnesses  # noqa: E402

import tools  # noqa: E402


def outcome(number):
    """"ok", "not for JAX" or a sentence."""
    harness = all_harnesses[number]
    try:
        arguments = [np.asarray(each) for each in harness.dyn_args_maker(np.random.RandomState(number))]
        wanted = [np.asarray(each) for each in jax.tree.leaves(jax.jit(harness.dyn_fun)(*arguments))]
    except Exception:  # What JAX says of its own cases is not asked.
        return "not for JAX"
    try:
        text = tools.baton_jax().lower(harness.dyn_fun, *arguments)
        with tempfile.TemporaryDirectory() as folder:
            source, program = Path(folder, "program.mlir"), Path(folder, "program.bvm")
            source.write_text(text)
            tools.compile_program(source, program)
            given = tools.call(program, "main", arguments, wanted, Path(folder))
    except Exception as error:  # Each kind is something to look at.
        return f"{type(error).__name__}: {str(error).strip()}".splitlines()[0][:200]
    differences = [tools.difference(*pair) for pair in zip(wanted, given)]
    return next((each for each in differences if each), "ok")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="a pattern of names")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    numbers = [i for i, each in enumerate(all_harnesses) if re.search(options.only, each.fullname)][::options.every]
    counts = collections.Counter()
    with multiprocessing.get_context("spawn").Pool(options.workers) as pool:
        for number, text in zip(numbers, pool.imap(outcome, numbers)):
            counts[text if text in ("ok", "not for JAX") else "failed"] += 1
            if text not in ("ok", "not for JAX"):
                print(f"{all_harnesses[number].fullname}: {text}", flush=True)
        pool.close()
        pool.join()
    print(f"{len(numbers)} cases: " + ", ".join(f"{count} {kind}" for kind, count in counts.items()))
    return 1 if counts["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
