"""baton.jax: JAX functions as programs for baton-compile.

    text = baton.jax.lower(function, *arguments)     # MLIR
    baton.jax.compile(text, "program.bvm")           # by the tool baton-compile
    f = baton.jax.jit(function, device="local-task") # compiled once for each shape, kept on disk

Pure Python on jaxlib's own bindings of MLIR.
"""
from .frontend import compile, from_stablehlo, lower  # noqa: F401
from .lowering import NotLowered  # noqa: F401


def __getattr__(name):
    """jit needs the extension; lowering does without it."""
    if name == "jit":
        from baton._jit import jit
        return jit
    raise AttributeError(f"module 'baton.jax' has no attribute '{name}'")
