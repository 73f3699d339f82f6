"""Functions in several forms: for anybody, and, as text of linalg, for cores, which baton-compile chooses where all workgroups are calls
that cores make (`baton.on_cores`), for blocks of threads (`baton.on_blocks`), and for those that have atomic operations (`baton.with_atomics`,
compiler-lite/schedule/on_cores.hpp).

What goes element after element is one pass of a core. A GPU does the same in rounds, each for all elements at once.
"""
import hashlib

from jaxlib.mlir import ir

from .build import Builder


def call_either(b, module, kind, operands, results, rounds, one_pass=None, at_once=None, on_blocks=None, says=None, on_cores=None):
    """Values of the types `results`: of what `rounds`, which gets a Builder and the operands, writes, or `on_blocks`, where workgroups are blocks
    of threads, or `on_cores`, which may call kernels of cores (call_kernel); or of a function of linalg, which `one_pass`, for cores, or `at_once`, for
    atomic operations, gets the name of. `says`: attributes that say what the function does."""
    types = [each.type for each in operands]
    name = _unused(module, kind)
    forms = {form: write for form, write in (("on_cores", one_pass), ("with_atomics", at_once)) if write}
    built = {form: write for form, write in (("on_cores", on_cores), ("on_blocks", on_blocks)) if write}
    attributes = {f"baton.{form}": ir.FlatSymbolRefAttr.get(f"{name}_{form}") for form in (*forms, *built)}
    _define(b, module, name, types, results, rounds, {**attributes, **(says or {})})
    for form, write in built.items():
        _define(b, module, f"{name}_{form}", types, results, write, {})
    for form, write in forms.items():
        _append(module, write(f"{name}_{form}"))
    return _call(b, name, operands, results)


def call_kernel(b, kind, operands, results, write):
    """Values of the types `results`, of a function `baton.one_kernel` that `write` gets the name of; for functions that are for cores alone.
    Calls whose kernels are the same have one."""
    module = module_of(b)
    name = f"{kind}_{hashlib.sha256(write(kind).encode()).hexdigest()[:16]}"
    if name not in _names(module):
        _append(module, write(name))
    return _call(b, name, operands, results)


def _append(module, text):
    written = ir.Module.parse(text, module.context)
    module.body.append(written.body.operations[0])


def _call(b, name, operands, results):
    return list(b.operation("func.call", operands, results, {"callee": ir.FlatSymbolRefAttr.get(name)}).results)


def module_of(b):
    """Where the builder's operations come to stand."""
    op = b.point.block.owner
    while op.operation.name != "builtin.module":
        op = op.operation.parent
    return op if isinstance(op, ir.Module) else op.opview


def _names(module):
    return {ir.StringAttr(each.operation.attributes["sym_name"]).value for each in module.body.operations if "sym_name" in each.operation.attributes}


def _unused(module, kind):
    names, number = _names(module), 0
    while f"{kind}_{number}" in names:
        number += 1
    return f"{kind}_{number}"


def _define(b, module, name, types, results, write, forms):
    attributes = {"sym_name": ir.StringAttr.get(name), "function_type": ir.TypeAttr.get(ir.FunctionType.get(types, results)),
                  "sym_visibility": ir.StringAttr.get("private"), **forms}
    function = ir.Operation.create("func.func", attributes=attributes, regions=1, loc=b.location, ip=ir.InsertionPoint(module.body))
    block = function.regions[0].blocks.append(*types)
    inner = Builder(ir.InsertionPoint(block), b.location)
    inner.operation("func.return", write(inner, list(block.arguments)))
