"""From a JAX function, or StableHLO that was saved, to the text that baton-compile reads; and the tool itself."""
import os
import shutil
import subprocess

import jax
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo

from .lowering import lower_module


def lower(function, *arguments, sizes=None, donate_argnums=(), name=None, libraries=(), **keywords):
    """The MLIR of `function` for arguments of these shapes and types.

    `sizes` gives for each argument the names of its unknown sizes ("batch, 8"), or None; equal names are equal sizes, which
    the program checks. Donated arguments are written by results that fit them. `libraries`: what plugins do when the program
    runs, "lapack" and "fft".
    """
    staged = function if hasattr(function, "lower") else jax.jit(function, donate_argnums=donate_argnums)
    if sizes:
        return from_stablehlo(_exported(staged, arguments, sizes), name, libraries)
    lowered = staged.lower(*arguments, **keywords)
    module = ir.Module.parse(str(lowered.compiler_ir("stablehlo")), _context())
    return _text(module, name, libraries)


def _exported(staged, arguments, sizes):
    scope = jax.export.SymbolicScope()
    shaped = [jax.ShapeDtypeStruct(jax.export.symbolic_shape(names, scope=scope) if names else argument.shape, argument.dtype)
              for argument, names in zip(arguments, sizes)]
    return jax.export.export(staged)(*shaped).mlir_module()


def from_stablehlo(source, name=None, libraries=()):
    """The same for StableHLO: text, or the bytes of a portable artifact."""
    context = _context()
    if isinstance(source, bytes):
        return _text(stablehlo.deserialize_portable_artifact(context, source), name, libraries)
    return _text(ir.Module.parse(source, context), name, libraries)


def _context():
    from jax._src.interpreters import mlir

    context = mlir.make_ir_context()
    context.allow_unregistered_dialects = True
    return context


def _text(module, name, libraries):
    lower_module(module, libraries)
    if name is not None:
        with module.context:
            module.operation.attributes["sym_name"] = ir.StringAttr.get(name)
    return str(module.operation.get_asm(large_elements_limit=None, assume_verified=True)) + "\n"


def compile(text, output, tool=None, flags=()):
    """Compiles MLIR into the file `output`. The tool is `tool`, BATON_COMPILE of the environment, or found on PATH."""
    tool = tool or os.environ.get("BATON_COMPILE") or shutil.which("baton-compile")
    if not tool:
        raise FileNotFoundError("baton-compile: give tool=, set BATON_COMPILE, or put it on PATH")
    done = subprocess.run([tool, "-", "-o", os.fspath(output), *flags], input=text, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr.strip() or f"baton-compile ended with {done.returncode}")
    return output
