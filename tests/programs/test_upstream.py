"""Programs in upstream's dialects, as their users write them: every named operation of linalg with layouts, strides, dilations and
types, and what tensor, scf, arith and math have. Each function against NumPy; several are compiled as one program.

    pytest tests/programs/test_upstream.py -k ops
"""
import pytest

import tools
import upstream_ops
import upstream_programs

TOGETHER = 16  # Functions of one program: a tool's start costs more than a function.


def groups():
    for kind, module in (("ops", upstream_ops), ("programs", upstream_programs)):
        cases = list(module.cases())
        for i in range(0, len(cases), TOGETHER):
            yield pytest.param(cases[i:i + TOGETHER], id=f"{kind}-{cases[i].name}")


def problems_of(case, program, folder):
    given = tools.call(program, case.name, case.arguments, case.wanted, folder)
    differences = (tools.difference(wanted, value, case.tolerance) for wanted, value in zip(case.wanted, given))
    return [f"{case.name}: result {i} {text}" for i, text in enumerate(differences) if text]


@pytest.mark.parametrize("group", list(groups()))
def test_agrees_with_numpy(group, tmp_path):
    source, program = tmp_path / "program.mlir", tmp_path / "program.bvm"
    source.write_text("\n".join(case.text for case in group))
    tools.compile_program(source, program)
    problems = [text for case in group for text in problems_of(case, program, tmp_path)]
    assert not problems, "\n".join(problems)
