"""stablehlo.custom_call → a call of a custom command, the function of a native module that records commands.

`jax.ffi.ffi_call("module.command", ...)` becomes `func.call @module.command`. Its tensors are the arguments, in the order of
memory that the call asks for; its attributes follow in the order of their names: numbers as scalars, text and arrays as blobs,
the entries of a dictionary one by one. The results stand last. The declaration says that calls are recorded
(iree.abi.streamable).
"""
import numpy as np
from jaxlib.mlir import ir

from .boundary import entries
from .build import Builder, element_of, shape_of, tensor_type
from .scalars import Scalars


def is_command(op):
    """The names without a module, and those of StableHLO's own extensions, are no commands."""
    name = ir.StringAttr(op.attributes["call_target_name"]).value
    return "." in name and not name.startswith(("stablehlo.", "mhlo.", "chlo."))


def lower_command(op, module):
    b = Builder.before(op)
    name = ir.StringAttr(op.attributes["call_target_name"]).value
    tensors, shapes = _operands(op)
    _refuse_types(op, name, tensors)
    orders = [_order(op, "operand_layouts", i, value.type) for i, value in enumerate(tensors)]
    given = [b.transpose(value, order) for value, order in zip(tensors, orders)]
    given += [value for each in _attributes(op) for value in _values(b, *each, name)]
    results = [_result_type(op, i) for i in range(len(op.results))]
    ties = _ties(op)
    if shapes:
        # The program says how large its results are by making room for them.
        for i, (shape, type_) in enumerate(zip(shapes, results)):
            if ties[i] is None:
                ties[i] = len(given)
                given.append(_room(b, shape, type_, op, i))
    symbol = _declared(module, op, name, [each.type for each in given], results, ties)
    made = b.operation("func.call", given, results, {"callee": ir.FlatSymbolRefAttr.get(symbol)})
    for i, (result, value) in enumerate(zip(op.results, made.results)):
        result.replace_all_uses_with(b.transpose(value, _inverse(_order(op, "result_layouts", i, result.type))))
    op.erase()


# Tensors -------------------------------------------------------------------------------------------------------------


def _operands(op):
    """The tensors, and the shapes of the results where these are values."""
    operands = list(op.operands)
    if "indices_of_shape_operands" not in op.attributes:
        return operands, []
    at = [int(each) for each in ir.DenseIntElementsAttr(op.attributes["indices_of_shape_operands"])]
    return [each for i, each in enumerate(operands) if i not in at], [operands[i] for i in at]


def _refuse_types(op, name, tensors):
    for value in (*tensors, *op.results):
        if isinstance(value.type, ir.RankedTensorType) and not isinstance(element_of(value), ir.ComplexType):
            continue
        raise NotImplementedError(f"custom_call @{name} has a {value.type}; commands take tensors of real numbers")


def _order(op, attribute, i, type_):
    """From the slowest dimension in memory to the fastest one; a layout of StableHLO begins with the fastest."""
    rank = len(ir.RankedTensorType(type_).shape)
    if attribute not in op.attributes:
        return list(range(rank))
    layout = ir.DenseIntElementsAttr(ir.ArrayAttr(op.attributes[attribute])[i])
    return list(reversed([int(each) for each in layout])) if rank > 1 else list(range(rank))


def _inverse(order):
    return [order.index(i) for i in range(len(order))]


def _result_type(op, i):
    type_ = ir.RankedTensorType(op.results[i].type)
    order = _order(op, "result_layouts", i, type_)
    return tensor_type([type_.shape[each] for each in order], type_.element_type)


def _room(b, shape, type_, op, i):
    order = _order(op, "result_layouts", i, op.results[i].type)
    sizes = Scalars().vector(shape)
    index = ir.IndexType.get()
    unknown = [b.value("arith.index_cast", [sizes[each]], index) for each in order if op.results[i].type.shape[each] < 0]
    return b.value("tensor.empty", unknown, type_)


def _ties(op):
    """For each result the operand in whose memory it is, or None."""
    ties = [None] * len(op.results)
    for alias in op.attributes["output_operand_aliases"] if "output_operand_aliases" in op.attributes else []:
        from jaxlib.mlir.dialects import stablehlo

        alias = stablehlo.OutputOperandAlias(alias)
        ties[alias.output_tuple_indices[0] if alias.output_tuple_indices else 0] = alias.operand_index
    return ties


# Attributes ----------------------------------------------------------------------------------------------------------


def _attributes(op):
    """The typed attributes in the order of their names, which is how MLIR keeps them."""
    for name in ("mhlo.backend_config", "backend_config"):
        if name in op.attributes and isinstance(op.attributes[name], ir.DictAttr):
            return list(entries(op.attributes[name]).items())
    if "backend_config" in op.attributes and (text := ir.StringAttr(op.attributes["backend_config"]).value):
        return [("backend_config", ir.StringAttr.get(text))]  # What calls of older kinds give.
    return []


def _values(b, key, value, name):
    if isinstance(value, ir.DictAttr):
        return [each for inner, part in entries(value).items() for each in _values(b, f"{key}.{inner}", part, name)]
    if isinstance(value, (ir.IntegerAttr, ir.FloatAttr, ir.BoolAttr)):
        return [_scalar(b, value)]
    if isinstance(value, ir.StringAttr):
        return [_blob(b, value)]
    if (array := _array(value)) is not None:
        return [_blob(b, ir.DenseElementsAttr.get(np.frombuffer(array.tobytes(), np.int8)) if array.size else ir.StringAttr.get(""))]
    raise NotImplementedError(f"custom_call @{name} has the attribute {key} = {value}; commands take numbers, text, arrays of numbers and "
                              "dictionaries of these")


def _scalar(b, value):
    """Numbers have the types that programs have at their boundary: of floats those of 32 and 64 bits, of integers those with a
    sign, where unsigned ones of 32 and 64 bits keep their bits and smaller ones their value."""
    type_ = value.type
    if isinstance(type_, ir.IntegerType) and not type_.is_signless:
        type_ = ir.IntegerType.get_signless(max(type_.width, 32))
        value = ir.IntegerAttr.get(type_, _wrapped(value.value, type_.width))
    elif isinstance(value, ir.FloatAttr) and not isinstance(type_, (ir.F32Type, ir.F64Type)):
        type_ = ir.F32Type.get()
        value = ir.FloatAttr.get(type_, value.value)
    return b.value("arith.constant", [], type_, {"value": value})


def _wrapped(number, width):
    return number - (1 << width) if width >= 32 and number >= 1 << (width - 1) else number


def _array(value):
    """The elements, as C has them in memory; None where NumPy has no type for them."""
    if not isinstance(value, (ir.DenseElementsAttr, ir.DenseIntElementsAttr, ir.DenseFPElementsAttr)):
        return None
    try:
        return np.array(value)
    except (TypeError, ValueError, BufferError):
        return None


def _blob(b, value):
    return b.value("util.buffer.constant", [], ir.Type.parse("!util.buffer"), {"value": value})


# Declarations --------------------------------------------------------------------------------------------------------


def _kinds(types):
    """What an import sees of the types of its arguments: all tensors are the same to it."""
    return ["a tensor" if isinstance(type_, ir.RankedTensorType) else "text or an array" if str(type_) == "!util.buffer" else str(type_)
            for type_ in types]


def _declared(module, op, name, inputs, results, ties):
    """The symbol to call. Other types of the same command get a number behind a $, which names the same import."""
    made = ir.FunctionType.get(inputs, results)
    attributes = {"function_type": ir.TypeAttr.get(made), "sym_visibility": ir.StringAttr.get("private"),
                  "iree.abi.streamable": ir.UnitAttr.get()}
    if any(each is not None for each in ties):
        i64 = ir.IntegerType.get_signless(64)
        attributes["res_attrs"] = ir.ArrayAttr.get([
            ir.DictAttr.get({} if each is None else {"iree.abi.tied": ir.IntegerAttr.get(i64, each)}) for each in ties])
    command = name.split("$")[0]  # Who calls may have put something behind it already.
    others = [each.operation for each in module.body.operations if each.operation.name == "func.func"
              and each.operation.attributes["sym_name"].value.split("$")[0] == command]
    for other in others:
        if all(key in other.attributes and other.attributes[key] == value for key, value in attributes.items()) \
                and ("res_attrs" in other.attributes) == ("res_attrs" in attributes):
            return other.attributes["sym_name"].value
        _refuse_other_arguments(name, _arguments(other), _kinds(inputs) + ["a tensor"] * ties.count(None))
    taken = {each.attributes["sym_name"].value for each in others}
    symbol = next(each for each in (name, *(f"{command}${i}" for i in range(len(others) + 1))) if each not in taken)
    ir.Operation.create("func.func", attributes={"sym_name": ir.StringAttr.get(symbol), **attributes}, regions=1, loc=op.location,
                        ip=ir.InsertionPoint.at_block_begin(module.body))
    return symbol


def _arguments(function):
    type_ = ir.FunctionType(function.attributes["function_type"].value)
    tied = [] if "res_attrs" not in function.attributes else [i for i, each in enumerate(ir.ArrayAttr(function.attributes["res_attrs"]))
                                                              if "iree.abi.tied" in entries(each)]
    return _kinds(type_.inputs) + ["a tensor"] * (len(type_.results) - len(tied))


def _refuse_other_arguments(name, before, now):
    if before != now:
        raise NotImplementedError(f"custom_call @{name} takes ({', '.join(now)}) here and ({', '.join(before)}) elsewhere; all calls of a "
                                  "command take arguments of the same kinds")
