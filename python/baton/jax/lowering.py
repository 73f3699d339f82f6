"""StableHLO → what baton-compile reads: functions on linalg, tensor, arith, math, scf.

jaxlib's own passes lower most of it (to_linalg). What they leave is written here, in other operations of StableHLO where that
can be, before they run: sorts, scatters, calls; and control flow, which becomes scf around what they lower.
"""
import re

from jaxlib.mlir import ir, passmanager
from jaxlib.mlir.dialects import stablehlo

from . import (boundary, callbacks as python, calls, collectives, complex, control_flow, gpu_calls, libraries as commands, lines, products,
               reindexing, rest, rng, scatter, sizes, sorting, sparse_products, tokens, tuples, windows_unknown)
from .inlining import inline_calls
from .scalars import Scalars

_registered = False

PREPARE = ("builtin.module(func.func(chlo-legalize-to-stablehlo),inline,canonicalize,"
           "func.func(stablehlo-canonicalize-dynamism),canonicalize,cse,symbol-dce)")
TO_LINALG = "builtin.module(canonicalize,stablehlo-legalize-to-linalg,canonicalize,cse)"
SIGNLESS = "builtin.module(stablehlo-convert-to-signless,canonicalize,cse)"


class NotLowered(Exception):
    """A program that has no form in baton-compile's dialects; the message says which operation, and why."""


def lower_module(module, libraries=(), callbacks=None):
    """Lowers a module of StableHLO in place; what `libraries` do are commands of theirs. `callbacks` are there when the program runs."""
    if unknown := set(libraries) - set(commands.LIBRARIES):
        raise ValueError(f"there is no library {', '.join(sorted(unknown))}; there are {', '.join(commands.LIBRARIES)}")
    with module.context, module.operation.location:
        _register()
        _load_dialects(module.context)
        ranks = collectives.note_ranks(module)
        boundary.drop_annotations(module)
        inline_calls(module)
        tuples.drop_tuples(operations(module))
        try:
            collectives.enter_ranks(module, *ranks)
            python.lower_callbacks(module, operations(module), callbacks)
            tokens.drop_tokens(operations(module))
        except NotImplementedError as error:
            raise NotLowered(str(error)) from None
        for op in operations(module):
            if op.name == "chlo.scan":
                rest.turn_scan(op)
        _run(module, PREPARE)
        edge = boundary.Boundary(module)
        try:
            _lower_operations(module, libraries)
        except NotImplementedError as error:
            raise NotLowered(str(error)) from None
        _run(module, TO_LINALG)
        _run(module, SIGNLESS)
        edge.write(module)
        collectives.leave_ranks(module)
        _check(module)


def _register():
    global _registered
    if not _registered:
        stablehlo.register_stablehlo_passes()
        _registered = True


def _load_dialects(context):
    """linalg and tensor have no bindings here; a pass that makes them loads them."""
    _run(ir.Module.parse("module {}", context), "builtin.module(stablehlo-legalize-to-linalg)")
    for name in ("arith", "cf", "func", "scf", "math"):
        context.dialects[name]


def _run(module, pipeline):
    try:
        passmanager.PassManager.parse(pipeline, module.context).run(module.operation)
    except ir.MLIRError as error:
        raise NotLowered(str(error)) from None


def operations(module, order=ir.WalkOrder.POST_ORDER):
    """All operations, each behind what stands inside of it."""
    found = []

    def visit(op):
        found.append(op.operation)
        return ir.WalkResult.ADVANCE

    module.operation.walk(visit, order)
    return found


def _lower_operations(module, libraries):
    for number, op in enumerate([each for each in operations(module) if each.name == "stablehlo.rng"]):
        rng.lower_rng(op, number)
    for op in operations(module):
        if op.name == "stablehlo.custom_call":
            gpu_calls.lower_gpu_call(op)
    for op in operations(module):
        if op.name == "stablehlo.custom_call":
            commands.lower_routine(op, module, libraries)
    for op in operations(module):
        rest.lower_complex_factorization(op, module)
    complex.lower_complex(module, operations(module, ir.WalkOrder.PRE_ORDER), libraries)
    sparse_products.lower_sparse_products(operations(module))
    reindexing.lower_reindexing(operations(module), module)
    # What lowers to other StableHLO, until none of it is left: a scatter may sort, a batch norm broadcasts.
    for op in operations(module):
        if op.name.startswith("stablehlo.") and len(op.results) and all(sizes.zero_sized(each.type) for each in op.results):
            sizes.lower_empty_result(op)
    while any([_rewritten(op, module) for op in operations(module) if op.name in REWRITES]):
        pass
    _drop_computations(module)
    scalars = Scalars()
    control_flow.lower_control_flow([op for op in operations(module) if op.name in CONTROL_FLOW], scalars)
    scalars.erase()
    scalars = Scalars()
    for op in operations(module):
        sizes.lower_sizes(op, scalars)
    scalars.erase()


def _drop_computations(module):
    """Functions that calls named as their computations: they end as regions of StableHLO do."""
    for op in list(module.body.operations):
        blocks = op.regions[0].blocks
        if len(blocks) == 1 and list(blocks[0].operations)[-1].operation.name == "stablehlo.return":
            op.operation.erase()


def _rewritten(op, module):
    """Whether the operation is replaced; a sentence about it begins with its line."""
    told = lines.said(op, "")
    try:
        return REWRITES[op.name](op, module)
    except NotImplementedError as error:
        raise NotImplementedError(told + str(error)) from None


def _sort(op, module):
    sorting.lower_sort(op)
    return True


def _scatter(op, module):
    scatter.lower_scatter(op, module)
    return True


def _custom_call(op, module):
    if ir.StringAttr(op.attributes["call_target_name"]).value == "stablehlo.dynamic_reduce_window":
        windows_unknown.lower_dynamic_reduce_window(op, module)
        return True
    if not calls.is_command(op):
        return rest.lower_known_call(op)
    calls.lower_command(op, module)
    return True


def _dot_general(op, module):
    return rest.REWRITES[op.name](op, module) or products.give_vectors_a_column(op)


CONTROL_FLOW = {"stablehlo.while", "stablehlo.if", "stablehlo.case"}
REWRITES = {
    "stablehlo.sort": _sort,
    "stablehlo.scatter": _scatter,
    "stablehlo.custom_call": _custom_call,
    **collectives.REWRITES,
    **rest.REWRITES,
    "stablehlo.dot_general": _dot_general,
}


# Floats that jaxlib has and the compiler's MLIR has not.
UNKNOWN_FLOATS = re.compile(r"\b(f4E2M1FN|f6E2M3FN|f6E3M2FN|f8E3M4|f8E8M0FNU)\b")


def _check(module):
    """What is left is named in one sentence."""
    for op in operations(module):
        if unknown := next(filter(None, (UNKNOWN_FLOATS.search(str(each.type)) for each in (*op.results, *op.operands))), None):
            raise NotLowered(lines.said(op, f"tensors of {unknown[1]} are not lowered: of floats below 16 bits there are those of 8 with 4 or 5 for the exponent"))
    found = [op for op in operations(module) if op.name.split(".")[0] in ("stablehlo", "chlo", "sdy", "mhlo", "shape")]
    left = sorted({op.name for op in found})
    if left:
        raise NotLowered(f"{lines.said(found[0], '')}{', '.join(left)} {'is' if len(left) == 1 else 'are'} not lowered: neither jaxlib's passes nor baton.jax have a form for it")
