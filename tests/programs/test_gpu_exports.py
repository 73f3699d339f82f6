"""Programs that JAX exported for GPUs, whose factorizations are calls of cuSOLVER and cuSPARSE: on a processor, against JAX."""
import numpy as np
import pytest

jax = pytest.importorskip("jax", reason="JAX is not installed in this environment")
import jax.numpy as jnp  # noqa: E402
import jax.scipy.linalg as linalg  # noqa: E402

import tools  # noqa: E402

TOLERANCES = {"float32": 2e-4, "float64": 1e-10, "complex64": 3e-4}


def hermitian(a):
    return a + jnp.swapaxes(a, -1, -2).conj()


def definite(a):
    return a @ jnp.swapaxes(a, -1, -2).conj() + a.shape[-1] * jnp.eye(a.shape[-1], dtype=a.dtype)


def from_svd(a, full):
    u, s, vt = jnp.linalg.svd(a, full_matrices=full)
    count = s.shape[-1]
    return s, (u[..., :count] * s[..., None, :].astype(a.dtype)) @ vt[..., :count, :], jnp.abs(jnp.swapaxes(u, -1, -2).conj() @ u)


def from_eigenvectors(a):
    values, vectors = jnp.linalg.eigh(hermitian(a))
    return values, (vectors * values[..., None, :].astype(a.dtype)) @ jnp.swapaxes(vectors, -1, -2).conj()


def by_thirds(a):
    lower, middle, upper = (a[..., k, :] for k in range(3))
    return jax.lax.linalg.tridiagonal_solve(lower.at[..., 0].set(0), middle + 4, upper.at[..., -1].set(0), jnp.swapaxes(a, -1, -2))


FUNCTIONS = {
    "cholesky": lambda a: jnp.linalg.cholesky(definite(a)),
    "cholesky_upper": lambda a: jnp.linalg.cholesky(definite(a), upper=True),
    "no_cholesky": lambda a: jnp.isnan(jnp.abs(jnp.linalg.cholesky(-definite(a)))),
    "lu": lambda a: jax.lax.linalg.lu(a),
    "solve": lambda a: (jnp.linalg.solve(a, a[..., :2]), jnp.linalg.det(a)),
    "qr": lambda a: tuple(jnp.abs(each) for each in jnp.linalg.qr(a)),
    "eigh": from_eigenvectors,
    "eigvalsh": lambda a: jnp.linalg.eigvalsh(hermitian(a)),
    "svd": lambda a: from_svd(a, True),
    "thin_svd": lambda a: from_svd(a, False),
    "singular_values": lambda a: jnp.linalg.svd(a, compute_uv=False),
    "tridiagonal": lambda a: [jnp.abs(each) for each in jax.lax.linalg.tridiagonal(hermitian(a))[1:3]],
    "tridiagonal_solve": by_thirds,
}
ANY_SHAPE = ("lu", "qr", "svd", "thin_svd", "singular_values")
CASES = [(name, shape, "float32") for name in FUNCTIONS for shape in ([(6, 6), (2, 3, 5, 5)] + ([(7, 4), (2, 3, 6)] if name in ANY_SHAPE else []))]
CASES += [(name, (5, 5), kind) for name in FUNCTIONS for kind in ("float64", "complex64") if (name, kind) != ("tridiagonal_solve", "complex64")]


@pytest.mark.parametrize("name, shape, kind", CASES, ids=lambda each: str(each).replace(" ", ""))
def test_agrees_with_jax(name, shape, kind, tmp_path):
    source = np.random.default_rng(len(name) + sum(shape))
    parts = source.normal(size=(2, *shape))
    a = (parts[0] + 1j * parts[1] if kind == "complex64" else parts[0]).astype(kind)
    with jax.enable_x64(kind == "float64"):
        function = jax.jit(FUNCTIONS[name])
        wanted = [np.asarray(each) for each in jax.tree.leaves(function(a))]
        exported = jax.export.export(function, platforms=["cuda"])(a)
        assert "cusolver_" in exported.mlir_module() or "cusparse_" in exported.mlir_module()
        text = tools.baton_jax().from_stablehlo(exported.mlir_module_serialized)
    (tmp_path / "program.mlir").write_text(text)
    tools.compile_program(tmp_path / "program.mlir", tmp_path / "program.bvm", "--cpu-levels=host")
    told = tools.differences(wanted, tools.call(tmp_path / "program.bvm", "main", [a], wanted, tmp_path), TOLERANCES[kind])
    assert not told, told
