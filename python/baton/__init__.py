"""Baton: runs programs that mix generated and hand-written device code.

    import baton, numpy as np
    program = baton.load("mul.bvm", device="local-task")
    product = program.mul(np.ones(4, np.float32), np.arange(4, dtype=np.float32))
    print(np.asarray(product))

Arrays of NumPy, PyTorch and JAX go in and out in place. python/README.md of the project tells the rest.
"""
import importlib.util

# In a source tree without the extension, baton.jax still lowers: it needs none.
if importlib.util.find_spec("baton._baton") is not None:
    from baton._runtime import *  # noqa: F403 - its __all__ is ours
    from baton._runtime import __all__, __version__  # noqa: F401

    def __getattr__(name):
        if name != "Recording":
            raise AttributeError(f"module 'baton' has no attribute '{name}'")
        import warnings
        warnings.warn("baton.Recording is called baton.CommandBuffer: a recording is what it becomes", DeprecationWarning, stacklevel=2)
        return CommandBuffer  # noqa: F405 - from baton._runtime
else:
    def __getattr__(name):
        raise AttributeError(f"baton.{name} needs the extension, which this package does not have: build target baton_python, "
                             "or install the wheel")
