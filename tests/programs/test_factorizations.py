"""Factorizations and triangular solves of matrices that are several blocks, whole ones and not, against JAX."""
import numpy as np
import pytest

jax = pytest.importorskip("jax", reason="JAX is not installed in this environment")
import jax.numpy as jnp  # noqa: E402
import jax.scipy.linalg as linalg  # noqa: E402

import tools  # noqa: E402

TOLERANCES = {"float32": 3e-4, "complex64": 3e-4, "float64": 1e-10}


def all_of(matrix, triangle, right, batch):
    solved = [linalg.solve_triangular(a, right, lower=lower, trans=trans, unit_diagonal=trans == 1)
              for lower, a in ((True, triangle), (False, triangle.T)) for trans in (0, 1, 2)]
    return [jnp.linalg.cholesky(matrix), jnp.linalg.cholesky(batch, upper=True), *solved]


@pytest.mark.parametrize("kind, size", [("float32", 64), ("complex64", 100), ("float64", 290)])
def test_blocks(kind, size, tmp_path):
    source = np.random.default_rng(size)

    def numbers(*shape):
        parts = source.normal(size=(2, *shape))
        return (parts[0] + 1j * parts[1] if kind == "complex64" else parts[0]).astype(kind)

    a = numbers(size, size)
    matrix = (a @ a.conj().T / size + np.eye(size)).astype(kind)
    triangle = (np.tril(a) / size + np.eye(size) * (1 + source.random(size))).astype(kind)
    # What stands on the other side of the diagonal is not read.
    arguments = [matrix, triangle + np.triu(numbers(size, size), 1), numbers(size, 3), np.stack([matrix, matrix * 2])]
    with jax.enable_x64(True):
        wanted = [np.asarray(each) for each in all_of(*arguments)]
        text = tools.baton_jax().lower(all_of, *arguments)
    (tmp_path / "program.mlir").write_text(text)
    tools.run_tool("baton-compile", [tmp_path / "program.mlir", "-o", tmp_path / "program.bvm", "--cpu-levels=host", *tools.FLAGS])
    given = tools.call(tmp_path / "program.bvm", "main", arguments, wanted, tmp_path)
    told = [f"{i}: {told}" for i, pair in enumerate(zip(wanted, given)) if (told := tools.difference(*pair, TOLERANCES[kind]))]
    assert not told, told
