"""stablehlo.custom_call → a call of a custom command, the function of a native module that records commands.

`jax.ffi.ffi_call("module.command", ...)` becomes `func.call @module.command`: its tensors are the arguments, its attributes
follow as scalars in the order of their names, and the declaration says that calls are recorded (iree.abi.streamable).
"""
from jaxlib.mlir import ir

from .boundary import entries
from .build import Builder


def is_command(op):
    """The names without a module, and those of StableHLO's own extensions, are no commands."""
    name = ir.StringAttr(op.attributes["call_target_name"]).value
    return "." in name and not name.startswith(("stablehlo.", "mhlo.", "chlo."))


def lower_command(op, module):
    b = Builder.before(op)
    name = ir.StringAttr(op.attributes["call_target_name"]).value
    operands = list(op.operands) + [_scalar(b, each, name) for each in _attributes(op)]
    types = [result.type for result in op.results]
    _declare(module, op, name, [each.type for each in operands], types)
    made = b.operation("func.call", operands, types, {"callee": ir.FlatSymbolRefAttr.get(name)})
    for result, value in zip(op.results, made.results):
        result.replace_all_uses_with(value)
    op.erase()


def _attributes(op):
    """The typed attributes in the order of their names, which is how MLIR keeps them."""
    for name in ("mhlo.backend_config", "backend_config"):
        if name in op.attributes and isinstance(op.attributes[name], ir.DictAttr):
            return list(entries(op.attributes[name]).items())
    return []


def _scalar(b, attribute, name):
    key, value = attribute
    if not isinstance(value, (ir.IntegerAttr, ir.FloatAttr, ir.BoolAttr)):
        raise NotImplementedError(f"custom_call @{name} has the attribute {key} = {value}; commands take integers and floats")
    type_ = value.type
    if isinstance(type_, ir.IntegerType) and not type_.is_signless:
        type_ = ir.IntegerType.get_signless(type_.width)
        value = ir.IntegerAttr.get(type_, value.value)
    return b.value("arith.constant", [], type_, {"value": value})


def _tied(op):
    """For each result the operand in whose memory it is, or None."""
    tied = [None] * len(op.results)
    for alias in op.attributes["output_operand_aliases"] if "output_operand_aliases" in op.attributes else []:
        from jaxlib.mlir.dialects import stablehlo

        alias = stablehlo.OutputOperandAlias(alias)
        tied[alias.output_tuple_indices[0] if alias.output_tuple_indices else 0] = alias.operand_index
    return tied


def _declare(module, op, name, inputs, results):
    made = ir.FunctionType.get(inputs, results)
    for each in module.body.operations:
        each = each.operation
        if each.name == "func.func" and each.attributes["sym_name"].value == name:
            if each.attributes["function_type"].value != made:
                raise NotImplementedError(f"custom_call @{name} is used with two types; an import has one")
            return
    attributes = {"sym_name": ir.StringAttr.get(name), "function_type": ir.TypeAttr.get(made),
                  "sym_visibility": ir.StringAttr.get("private"), "iree.abi.streamable": ir.UnitAttr.get()}
    tied = _tied(op)
    if any(each is not None for each in tied):
        i64 = ir.IntegerType.get_signless(64)
        attributes["res_attrs"] = ir.ArrayAttr.get([
            ir.DictAttr.get({} if each is None else {"iree.abi.tied": ir.IntegerAttr.get(i64, each)}) for each in tied])
    ir.Operation.create("func.func", attributes=attributes, regions=1, loc=op.location, ip=ir.InsertionPoint.at_block_begin(module.body))
