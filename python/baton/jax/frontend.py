"""From a JAX function, or StableHLO that was saved, to the text that baton-compile reads; and the tool itself."""
import io
import os
import shutil
import subprocess
import sys

import jax
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo

from . import lines
from .callbacks import Callbacks
from .lowering import lower_module


def lower(function, *arguments, sizes=None, donate_argnums=(), name=None, libraries=(), **keywords):
    """The MLIR of `function` for arguments of these shapes and types.

    `sizes` gives for each argument the names of its unknown sizes ("batch, 8"), or None; equal names are equal sizes, which
    the program checks. Donated arguments are written by results that fit them. `libraries`: what plugins do when the program
    runs, "lapack" and "fft". The program takes all arguments, those that it does not read, too; one of jax.jit takes what that keeps.
    """
    libraries = (libraries,) if isinstance(libraries, str) else libraries
    staged = function if hasattr(function, "lower") else jax.jit(function, donate_argnums=donate_argnums, keep_unused=True)
    found = Callbacks()  # They get names, with which they are refused.
    if sizes:
        return from_stablehlo(exported(staged, named_sizes(arguments, sizes), found).mlir_module(), name, libraries)
    if not hasattr(staged, "trace"):
        return text_of(staged.lower(*arguments, **keywords), name, libraries)
    return text_of(lowered(staged.trace(*arguments, **keywords), found), name, libraries)


def lowered(traced, callbacks=None):
    """What jax.jit(...).trace(...) gave, as StableHLO, and its calls of Python in `callbacks`."""
    rules = _rules(callbacks)
    if not rules:
        return traced.lower()
    from jax._src.interpreters import mlir
    return traced.lower(_private_parameters=mlir.LoweringParameters(override_lowering_rules=rules))


def _rules(callbacks):
    """How primitives are lowered in place of JAX's rules for CPUs: callbacks; products, whose rule refuses sums that XLA's CPU library has
    not, as attention over f16 asks for; and those of sparse matrices, whose rule asks that library; and exchanges of rows. With another version of JAX: as it does."""
    return (*_rules_for_any_platform(), *(() if callbacks is None else callbacks.rules()))


# Rows of matrices whose exchanges are a command of their own; those of smaller ones may be part of a loop that is one kernel.
EXCHANGED_ROWS = 16


def _rule_of_exchanges():
    """JAX's rule for GPUs, which asks a library what its rule for any platform makes a loop of, for the order in which LU leaves rows."""
    from jax._src.interpreters import mlir
    from jax._src.lax import linalg
    primitive = linalg.lu_pivots_to_permutation_p
    anywhere, on_gpus = (getattr(rule, "rule", rule) for rule in (mlir._lowerings[primitive], mlir._platform_specific_lowerings["cuda"][primitive]))

    def rule(context, pivots, *, permutation_size):
        sizes = (*context.avals_in[0].shape, permutation_size)
        is_known = all(isinstance(size, int) and size > 0 for size in sizes)
        chosen = on_gpus if is_known and permutation_size >= EXCHANGED_ROWS else anywhere
        return chosen(context, pivots, permutation_size=permutation_size)
    return primitive, rule


def _rules_for_any_platform():
    primitives = [jax.lax.dot_general_p]
    if bcsr := sys.modules.get("jax.experimental.sparse.bcsr"):  # Who has such matrices has imported it.
        primitives.append(bcsr.bcsr_dot_general_p)
    try:
        from jax._src.interpreters import mlir
        rules = [(each, mlir._lowerings[each]) for each in primitives]
        mlir.LoweringParameters(override_lowering_rules=())
        exchanges = [_rule_of_exchanges()]
    except (ImportError, AttributeError, KeyError, TypeError):
        return ()
    return (*((primitive, getattr(rule, "rule", rule)) for primitive, rule in rules), *exchanges)


def named_sizes(arguments, sizes):
    """The arguments as types, with the names of their unknown sizes in them; `sizes` may be a tree where an argument is one."""
    typed = jax.tree.map(lambda leaf: jax.ShapeDtypeStruct(leaf.shape, leaf.dtype), tuple(arguments))
    if not isinstance(sizes, (str, tuple, list)):
        raise TypeError(f"sizes= is a tuple with the names of each argument's sizes, or None for it, as ('batch, 8', None); this is {sizes!r}")
    sizes = (sizes,) if isinstance(sizes, str) else tuple(sizes)
    if len(sizes) != len(typed):
        raise ValueError(f"sizes= names those of {len(sizes)} arguments, and {len(typed)} were given")
    try:
        named = jax.export.symbolic_args_specs(typed, sizes)
        if any(len(a.shape) != len(b.shape) for a, b in zip(jax.tree.leaves(named), jax.tree.leaves(typed))):
            raise IndexError
        return named
    except IndexError:  # JAX's word for a name behind the last dimension.
        shapes = ", ".join(str(leaf.shape) for leaf in jax.tree.leaves(typed))
        raise ValueError(f"sizes={sizes!r} names more dimensions than the arguments have: {shapes}") from None


def exported(staged, arguments, callbacks=None, **keywords):
    """JAX's export of a function for arguments with names of sizes. Its calls are commands, which JAX would not keep for long."""
    every_call = jax.export.DisabledSafetyCheck.custom_call("ALL")
    rules = _rules(callbacks)
    return jax.export.export(staged, disabled_checks=[every_call], **({"_override_lowering_rules": rules} if rules else {}))(*arguments, **keywords)


def text_of(lowered, name=None, libraries=(), callbacks=None):
    """The MLIR of what jax.jit(...).lower(...) gave."""
    code = io.BytesIO()  # And not its text: that says no lines.
    lowered.compiler_ir("stablehlo").operation.write_bytecode(code)
    return _text(ir.Module.parse(code.getvalue(), _context()), name, libraries, callbacks)


def from_stablehlo(source, name=None, libraries=(), callbacks=None):
    """The same for StableHLO: text, the bytes of a portable artifact, or what jax.export.export(...) or jax.jit(...).lower(...) gave."""
    if hasattr(source, "compiler_ir"):
        return text_of(source, name, libraries, callbacks)
    source = getattr(source, "mlir_module_serialized", source)
    if not isinstance(source, (str, bytes, bytearray)):
        raise TypeError(f"StableHLO is text, bytes, or what jax.export.export(...) or jax.jit(...).lower(...) gives, and not a {type(source).__name__}")
    return _text(_parsed(source, _context()), name, libraries, callbacks)


def _parsed(source, context):
    """Bytes without MLIR's first four are text that was read as bytes."""
    source = source if isinstance(source, str) else bytes(source)
    is_artifact = isinstance(source, bytes) and source[:4] == b"ML\xefR"
    try:
        return stablehlo.deserialize_portable_artifact(context, source) if is_artifact else ir.Module.parse(source, context)
    except (ir.MLIRError, ValueError) as error:
        is_path = isinstance(source, str) and "\n" not in source.strip() and os.path.exists(source.strip())
        what = "this is the path of a file, of which the contents are wanted" if is_path else "JAX does not read this as StableHLO"
        raise ValueError(f"{what}: {error}") from None


def _context():
    from jax._src.interpreters import mlir

    context = mlir.make_ir_context()
    context.allow_unregistered_dialects = True
    return context


def _text(module, name, libraries, callbacks):
    lower_module(module, libraries, callbacks)
    if name:
        with module.context:
            module.operation.attributes["sym_name"] = ir.StringAttr.get(name)
    has_lines = lines.keep_lines_of_commands(module)
    return str(module.operation.get_asm(large_elements_limit=None, assume_verified=True, enable_debug_info=has_lines)) + "\n"


def compile(text, output, tool=None, flags=()):
    """Compiles MLIR into the file `output`. The tool is `tool`, BATON_COMPILE of the environment, or found on PATH."""
    if not isinstance(text, str):
        raise TypeError(f"what is compiled is text, as lower() gives it, and not a {type(text).__name__}")
    tool = tool or os.environ.get("BATON_COMPILE") or shutil.which("baton-compile")
    if not tool:
        raise FileNotFoundError("baton-compile: give tool=, set BATON_COMPILE, or put it on PATH")
    done = subprocess.run([tool, "-", "-o", os.fspath(output), *flags], input=text, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr.strip() or f"baton-compile ended with {done.returncode}")
    return output
