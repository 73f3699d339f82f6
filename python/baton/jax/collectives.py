"""Collectives of StableHLO → commands of the module `collective`, and shard_map's body as the program of one rank.

A program for n devices runs as n ranks: each computes what stands inside of shard_map on its own shards, which are its
arguments and results. It says so itself: on another number of ranks it ends with a sentence.
"""
import re
import warnings

from jaxlib.mlir import ir

from .build import Builder, element_of, shape_of, tensor_type
from .sorting import replace

REDUCTIONS = {"add": 1, "multiply": 2, "minimum": 3, "maximum": 4}
COUNTED = "baton.ranks"  # On a module while it is lowered: how many ranks it is for.


def note_ranks(module):
    """How many devices the program is for, before the notes for other compilers are dropped; the names of its mesh's axes; what
    it says is split over them."""
    count = 1
    for name in ("mhlo.num_partitions", "mhlo.num_replicas"):
        if name in module.operation.attributes:
            count *= ir.IntegerAttr(module.operation.attributes[name]).value
    axes = set()
    for op in module.body.operations:
        if op.operation.name == "sdy.mesh":
            axes |= set(re.findall(r'"([^"]*)"=', str(op.operation.attributes["mesh"])))
    return count, axes, _splits(module)


def _splits(module):
    """Where a sharding names axes: "argument 0 of @main"."""
    splits = []

    def note(attribute, what):
        if re.search(r'\{[^{}]*"[^"]*"[^{}]*\}', str(attribute)):  # Else it lies on each of them.
            splits.append(what)

    def visit(op):
        op = op.operation
        if op.name == "func.func":
            for group, kind in (("arg_attrs", "argument"), ("res_attrs", "result")):
                for i, each in enumerate(ir.ArrayAttr(op.attributes[group]) if group in op.attributes else ()):
                    attributes = ir.DictAttr(each)
                    if "sdy.sharding" in attributes:
                        note(attributes["sdy.sharding"], f"{kind} {i} of @{op.attributes['sym_name'].value}")
        elif op.name == "sdy.sharding_constraint":
            note(op.attributes["sharding"], "a constraint")
        return ir.WalkResult.ADVANCE

    module.operation.walk(visit)
    return list(dict.fromkeys(splits))


def enter_ranks(module, count, axes, splits):
    """The body of a shard_map that is all of a function becomes the function. A program without one is not split."""
    is_entered = False
    for op in module.body.operations:
        function = op.operation
        if function.name == "func.func" and len(function.regions[0].blocks):
            block = function.regions[0].blocks[0]
            found = [each.operation for each in block.operations if each.operation.name == "sdy.manual_computation"]
            if found:
                _enter(function, block, found, axes)
                is_entered = True
    if splits and count > 1 and not is_entered:
        warnings.warn(f"the program is for {count} devices, over which it splits {', '.join(splits)}, and has no shard_map: nothing is "
                      "split, each rank computes all of it", stacklevel=2)
    module.operation.attributes[COUNTED] = ir.IntegerAttr.get(ir.IntegerType.get_signless(32), count)


def _enter(function, block, found, axes):
    region, end = found[0], list(block.operations)[-1].operation
    manual = set(re.findall(r'"([^"]*)"', str(region.attributes["manual_axes"])))
    if axes - manual:
        raise NotImplementedError(f"shard_map leaves the axes {', '.join(sorted(axes - manual))} to a partitioner; ranks need all of them")
    if (len(list(block.operations)) != 2 or list(region.operands) != list(block.arguments)
            or list(end.operands) != list(region.results)):
        raise NotImplementedError("shard_map is only a part of the function; a rank's program is all of it, from arguments to results")
    body = region.regions[0].blocks[0]
    for outer, inner in zip(block.arguments, body.arguments):
        outer.set_type(inner.type)
        inner.replace_all_uses_with(outer)
    for each in list(body.operations):
        if each.operation.name == "sdy.return":
            for i, value in enumerate(each.operands):
                end.operands[i] = value
        else:
            each.operation.move_before(end)
    region.erase()
    made = ir.FunctionType.get([each.type for each in block.arguments], [each.type for each in end.operands])
    function.attributes["function_type"] = ir.TypeAttr.get(made)


def _ranks(op, module):
    """The number of ranks; all of them are one group, in their order."""
    count = ir.IntegerAttr(module.operation.attributes[COUNTED]).value
    groups = [[int(each) for each in row] for row in _rows(op.attributes["replica_groups"])]
    groups = groups or [list(range(count))]
    if len(groups) != 1 or sorted(groups[0]) != list(range(count)):
        raise NotImplementedError(f"{op.name} of the groups {groups}, not of all {count} ranks together, is not lowered")
    if groups[0] != list(range(count)) and op.name not in ("stablehlo.all_reduce", "stablehlo.collective_broadcast"):
        raise NotImplementedError(f"{op.name} of ranks in the order {groups[0]} is not lowered")
    return count, groups[0]


def _rows(attribute):
    attribute = ir.DenseIntElementsAttr(attribute)
    rows, width = ir.RankedTensorType(attribute.type).shape
    return [[attribute[row * width + i] for i in range(width)] for row in range(rows)]


def _reduction(op):
    """Of the region: two arguments, one operation of both."""
    inner, end = ([each.operation for each in op.regions[0].blocks[0].operations] + [None])[:2]
    name = inner.name.partition(".")[2]
    if name not in REDUCTIONS or end is None or end.name != "stablehlo.return" or end.operands[0] != inner.results[0]:
        raise NotImplementedError(f"{op.name} by {name} is not lowered; ranks reduce by {', '.join(REDUCTIONS)}")
    element = element_of(op.operands[0])
    if isinstance(element, ir.IntegerType) and element.is_unsigned and name in ("minimum", "maximum"):
        raise NotImplementedError(f"{op.name} by {name} of {element} is not lowered; ranks compare signed integers and floats")
    return REDUCTIONS[name]


def _check_element(op):
    for each in op.operands:
        element = element_of(each)
        whole = isinstance(element, ir.IntegerType) and element.width >= 8
        if not whole and str(element) not in ("f16", "bf16", "f32", "f64"):
            raise NotImplementedError(f"{op.name} of {element} is not lowered; ranks exchange integers from 8 bits on, f16, bf16, f32 and f64")


def _declare(module, name, inputs, results, records):
    """The import's symbol. What stands behind a $ makes another type of the same import."""
    made = ir.FunctionType.get(inputs, results)
    taken = {each.operation.attributes["sym_name"].value: each.operation for each in module.body.operations
             if each.operation.name == "func.func"}
    number, symbol = 0, name
    while symbol in taken and taken[symbol].attributes["function_type"].value != made:
        number += 1
        symbol = f"{name}${number}"
    if symbol not in taken:
        attributes = {"sym_name": ir.StringAttr.get(symbol), "function_type": ir.TypeAttr.get(made),
                      "sym_visibility": ir.StringAttr.get("private")}
        if records:
            attributes["iree.abi.streamable"] = ir.UnitAttr.get()
        ir.Operation.create("func.func", attributes=attributes, regions=1, loc=module.operation.location,
                            ip=ir.InsertionPoint.at_block_begin(module.body))
    return ir.FlatSymbolRefAttr.get(symbol)


def _host(b, module, name):
    """rank or count, a scalar of the host."""
    i32 = ir.IntegerType.get_signless(32)
    return b.value("func.call", [], i32, {"callee": _declare(module, "collective." + name, [], [i32], False)})


def _i32(b, number):
    i32 = ir.IntegerType.get_signless(32)
    return b.value("arith.constant", [], i32, {"value": ir.IntegerAttr.get(i32, number)})


def _compare(b, left, right):
    predicate = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), 0)
    return b.value("arith.cmpi", [left, right], ir.IntegerType.get_signless(1), {"predicate": predicate})


def _check_count(op, module, count):
    """Once, where the function begins."""
    block = op
    while block.parent.name != "func.func":
        block = block.parent.operation
    first = block.block.operations[0].operation
    if COUNTED in block.parent.attributes:
        return
    block.parent.attributes[COUNTED] = ir.UnitAttr.get()
    b = Builder.before(first)
    same = _compare(b, _host(b, module, "count"), _i32(b, count))
    text = f"this program is for {count} ranks, and there are more or fewer"
    b.operation("cf.assert", [same], [], {"msg": ir.StringAttr.get(text)})


def _command(b, module, name, source, shape, *numbers):
    made = tensor_type(shape, element_of(source))
    operands = [source, *numbers]
    callee = _declare(module, "collective." + name, [each.type for each in operands], [made], True)
    return b.value("func.call", operands, made, {"callee": callee})


def _to_front(b, a, dimension, count):
    """The parts along a dimension as a new first one."""
    shape = shape_of(a)
    if shape[dimension] % count:
        raise NotImplementedError(f"a dimension of {shape[dimension]} can't be cut among {count} ranks")
    cut = b.reshape(a, shape[:dimension] + [count, shape[dimension] // count] + shape[dimension + 1:])
    return b.transpose(cut, [dimension] + [i for i in range(len(shape) + 1) if i != dimension])


def _from_front(b, a, dimension):
    """Its reverse: parts of the first dimension one behind the other along `dimension` of what they are."""
    count, *shape = shape_of(a)
    order = list(range(1, len(shape) + 1))
    order.insert(dimension, 0)
    shape[dimension] *= count
    return b.reshape(b.transpose(a, order), shape)


def _all_reduce(op, module, b, count, group):
    reduction = _reduction(op)
    return [_command(b, module, "all_reduce", each, shape_of(each), _i32(b, reduction)) for each in op.operands]


def _all_gather(op, module, b, count, group):
    dimension = op.attributes["all_gather_dim"].value
    return [_from_front(b, _command(b, module, "all_gather", each, [count] + shape_of(each)), dimension) for each in op.operands]


def _reduce_scatter(op, module, b, count, group):
    reduction = _reduction(op)
    parts = _to_front(b, op.operands[0], op.attributes["scatter_dimension"].value, count)
    return [_command(b, module, "reduce_scatter", parts, shape_of(op.results[0]), _i32(b, reduction))]


def _all_to_all(op, module, b, count, group):
    made = []
    for each in op.operands:
        parts = _to_front(b, each, op.attributes["split_dimension"].value, count)
        parts = _command(b, module, "all_to_all", parts, shape_of(parts))
        made.append(_from_front(b, parts, op.attributes["concat_dimension"].value))
    return made


def _broadcast(op, module, b, count, group):
    return [_command(b, module, "broadcast", op.operands[0], shape_of(op.operands[0]), _i32(b, group[0]))]


def _permute(op, module):
    _check_element(op)
    count = ir.IntegerAttr(module.operation.attributes[COUNTED]).value
    pairs = _rows(op.attributes["source_target_pairs"])
    _check_count(op, module, count)
    b = Builder.before(op)
    rank, to, sender = _host(b, module, "rank"), _i32(b, -1), _i32(b, -1)
    for source, target in pairs:
        to = b.value("arith.select", [_compare(b, rank, _i32(b, source)), _i32(b, target), to], to.type)
        sender = b.value("arith.select", [_compare(b, rank, _i32(b, target)), _i32(b, source), sender], to.type)
    replace(op, [_command(b, module, "permute", op.operands[0], shape_of(op.operands[0]), to, sender)])
    return True


def _rank_number(op, module):
    """partition_id and replica_id: a program's devices are its ranks."""
    _check_count(op, module, ir.IntegerAttr(module.operation.attributes[COUNTED]).value)
    b = Builder.before(op)
    rank = b.value("tensor.from_elements", [_host(b, module, "rank")], tensor_type([], ir.IntegerType.get_signless(32)))
    replace(op, [b.convert(rank, element_of(op.results[0]))])
    return True


def _of_all(lower):
    def rewrite(op, module):
        _check_element(op)
        count, group = _ranks(op, module)
        _check_count(op, module, count)
        replace(op, lower(op, module, Builder.before(op), count, group))
        return True

    return rewrite


def leave_ranks(module):
    """Takes away the notes of this file."""
    for each in [module.operation, *[op.operation for op in module.body.operations]]:
        if COUNTED in each.attributes:
            del each.attributes[COUNTED]


REWRITES = {
    "stablehlo.all_reduce": _of_all(_all_reduce),
    "stablehlo.all_gather": _of_all(_all_gather),
    "stablehlo.reduce_scatter": _of_all(_reduce_scatter),
    "stablehlo.all_to_all": _of_all(_all_to_all),
    "stablehlo.collective_broadcast": _of_all(_broadcast),
    "stablehlo.collective_permute": _permute,
    "stablehlo.partition_id": _rank_number,
    "stablehlo.replica_id": _rank_number,
}
