"""Tuples, which programs that were HLO once have among their values: what is taken out of one is what was put in, and one in the signature
of a function is its parts there."""
from jaxlib.mlir import ir

from .build import Builder
from .sorting import replace


def drop_tuples(operations):
    """`operations` stand behind those inside of them, and calls are no more."""
    functions = [op for op in operations if op.name == "func.func" and len(op.regions[0].blocks) == 1]
    for function in functions:
        if any(map(_is_tuple, _signature(function).inputs)):
            _spread_arguments(function)
    for op in operations:
        if op.name == "stablehlo.get_tuple_element" and (made := _made_here(op.operands[0])):
            replace(op, [made.operands[op.attributes["index"].value]])
    for function in functions:
        if any(map(_is_tuple, _signature(function).results)):
            _spread_results(function)


def _is_tuple(type_):
    return isinstance(type_, ir.TupleType)


def _signature(function):
    return ir.FunctionType(function.attributes["function_type"].value)


def _leaves(type_):
    """The types of a tuple's parts, of tuples inside, too."""
    if not _is_tuple(type_):
        return [type_]
    tuple_type = ir.TupleType(type_)
    return [leaf for i in range(tuple_type.num_types) for leaf in _leaves(tuple_type.get_type(i))]


def _made_here(value):
    owner = None if isinstance(value.owner, ir.Block) else value.owner.operation
    return owner if owner is not None and owner.name == "stablehlo.tuple" else None


def _spread_arguments(function):
    block = function.regions[0].blocks[0]
    old = list(block.arguments)
    types = [_leaves(each.type) for each in old]
    new = iter([block.add_argument(leaf, function.location) for each in types for leaf in each])
    b = Builder(ir.InsertionPoint.at_block_begin(block), function.location)
    for argument in old:
        argument.replace_all_uses_with(_gathered(b, argument.type, new))
    for _ in old:
        block.erase_argument(0)
    _rewrite(function, [leaf for each in types for leaf in each], _signature(function).results, "arg_attrs", types)


def _gathered(b, type_, leaves):
    if not _is_tuple(type_):
        return next(leaves)
    tuple_type = ir.TupleType(type_)
    parts = [_gathered(b, tuple_type.get_type(i), leaves) for i in range(tuple_type.num_types)]
    return b.value("stablehlo.tuple", parts, type_)


def _spread_results(function):
    block = function.regions[0].blocks[0]
    end = list(block.operations)[-1].operation
    types = [_leaves(each.type) for each in end.operands]
    b = Builder.before(end)
    b.operation("func.return", [part for each in end.operands for part in _parts(b, each)])
    end.erase()
    _rewrite(function, _signature(function).inputs, [leaf for each in types for leaf in each], "res_attrs", types)


def _parts(b, value):
    if not _is_tuple(value.type):
        return [value]
    if made := _made_here(value):
        return [part for each in made.operands for part in _parts(b, each)]
    tuple_type, i32 = ir.TupleType(value.type), ir.IntegerType.get_signless(32)
    taken = [b.value("stablehlo.get_tuple_element", [value], tuple_type.get_type(i), {"index": ir.IntegerAttr.get(i32, i)})
             for i in range(tuple_type.num_types)]
    return [part for each in taken for part in _parts(b, each)]


def _rewrite(function, inputs, results, name, types):
    """The new signature; attributes of an argument or result that is whole stay with it."""
    function.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(list(inputs), list(results)))
    if name in function.attributes:
        kept = [[each] if len(leaves) == 1 else [ir.DictAttr.get({})] * len(leaves) for each, leaves in zip(function.attributes[name], types)]
        function.attributes[name] = ir.ArrayAttr.get([each for group in kept for each in group])
