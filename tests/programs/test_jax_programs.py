"""JAX functions through the front door: lowered by baton.jax, compiled by baton-compile, run by baton-run-module, compared with
JAX itself. What fails is in known_failures.txt with its reason, and must fail: a program that begins to work is taken out.

    pytest tests/programs/test_jax_programs.py -k attention
"""
from pathlib import Path

import pytest

jax = pytest.importorskip("jax", reason="JAX is not installed in this environment")
import numpy as np  # noqa: E402

import tools  # noqa: E402
from jax_programs import programs  # noqa: E402


def known_failures():
    lines = Path(__file__).with_name("known_failures.txt").read_text().splitlines()
    return dict(line.split(": ", 1) for line in lines if line and not line.startswith("#"))


KNOWN = known_failures()
assert KNOWN.keys() <= programs.keys(), f"known_failures.txt names no program: {KNOWN.keys() - programs.keys()}"


def parameters():
    for name, program in programs.items():
        marks = [pytest.mark.xfail(reason=KNOWN[name], strict=True)] if name in KNOWN else []
        yield pytest.param(program, id=f"{program.function.__module__.split('.')[-1]}-{name}", marks=marks)


def outputs_of(program, arguments):
    """What JAX itself gives."""
    return [np.asarray(each) for each in jax.tree.leaves(jax.jit(program.function)(*arguments))]


@pytest.mark.parametrize("program", parameters())
def test_agrees_with_jax(program, tmp_path):
    calls = (program.arguments, *program.also)
    with jax.enable_x64(program.x64):
        wanted = [outputs_of(program, arguments) for arguments in calls]
        text = tools.baton_jax().lower(program.function, *program.arguments, sizes=program.sizes, donate_argnums=program.donate,
                                        libraries=program.libraries)
    source = tmp_path / "program.mlir"
    source.write_text(text)
    tools.compile_program(source, tmp_path / "program.bvm")
    for number, (arguments, results) in enumerate(zip(calls, wanted)):
        given = tools.call(tmp_path / "program.bvm", "main", arguments, results, tmp_path, program.libraries)
        differences = [tools.difference(*pair, program.tolerance) for pair in zip(results, given)]
        problems = [f"result {i} {text}" for i, text in enumerate(differences) if text]
        assert not problems, f"call {number}: " + "; ".join(problems)
