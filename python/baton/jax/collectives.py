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
OF_BITS = {"and": "minimum", "or": "maximum", "multiply": "minimum", "add": "maximum"}  # What they are for i1.
COUNTED = "baton.ranks"  # On a module while it is lowered: how many ranks it is for.
SITES = "baton.groups"  # The groups that it splits ranks into.


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


def _total(module):
    return ir.IntegerAttr(module.operation.attributes[COUNTED]).value


def _groups(op, module):
    """The groups in which ranks work together, each in its order; all of them are one where nothing is said."""
    count = _total(module)
    rows = [[int(each) for each in row if each >= 0] for row in _rows(op.attributes["replica_groups"])]
    groups = [row for row in rows if row] or [list(range(count))]
    if sorted(each for row in groups for each in row) != list(range(count)):
        raise NotImplementedError(f"{op.name} of the groups {groups} is not lowered: each of {count} ranks has to be in one of them")
    if len({len(row) for row in groups}) > 1 and op.name not in ("stablehlo.all_reduce", "stablehlo.collective_broadcast"):
        raise NotImplementedError(f"{op.name} of the groups {groups} is not lowered: its results have several sizes")
    return groups


def _rows(attribute):
    attribute = ir.DenseIntElementsAttr(attribute)
    rows, width = ir.RankedTensorType(attribute.type).shape
    return [[attribute[row * width + i] for i in range(width)] for row in range(rows)]


def _reduction(op):
    """Of the region: two arguments, one operation of both."""
    inner, end = ([each.operation for each in op.regions[0].blocks[0].operations] + [None])[:2]
    name = inner.name.partition(".")[2]
    element = element_of(op.operands[0])
    if isinstance(element, ir.IntegerType) and element.width == 1:
        name = OF_BITS.get(name, name)
    if name not in REDUCTIONS or end is None or end.name != "stablehlo.return" or end.operands[0] != inner.results[0]:
        raise NotImplementedError(f"{op.name} by {name} is not lowered; ranks reduce by {', '.join(REDUCTIONS)}")
    return name


def _check_element(op):
    for each in op.operands:
        element = element_of(each)
        whole = isinstance(element, ir.IntegerType) and (element.width == 1 or element.width >= 8)
        if not whole and str(element) not in ("f16", "bf16", "f32", "f64"):
            raise NotImplementedError(f"{op.name} of {element} is not lowered; ranks exchange i1, integers from 8 bits on, f16, bf16, f32 and f64")


def _exchanged(b, value, reduction=None):
    """The value as ranks exchange it, and what makes a result one of its type again: i1 goes as bytes; where ranks compare
    unsigned integers, which they take for signed ones, the upper half changes places with the lower one."""
    element = element_of(value)
    if not isinstance(element, ir.IntegerType):
        return value, lambda made: made
    if element.width == 1:
        byte = ir.IntegerType.get_signless(8)
        return b.convert(value, byte), lambda made: b.compare("NE", made, 0)
    if not element.is_unsigned or reduction not in ("minimum", "maximum"):
        return value, lambda made: made
    signed = ir.IntegerType.get_signless(element.width)

    def turned(of, to):
        return b.each("xor", b.value("stablehlo.bitcast_convert", [of], tensor_type(shape_of(of), to)),
                      b.full(shape_of(of), -1 << (to.width - 1) if to == signed else 1 << (to.width - 1), to))

    return turned(value, signed), lambda made: turned(made, element)


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
    function = _function_of(op)
    if COUNTED in function.attributes:
        return
    function.attributes[COUNTED] = ir.UnitAttr.get()
    b = Builder.before(function.regions[0].blocks[0].operations[0].operation)
    same = _compare(b, _host(b, module, "count"), _i32(b, count))
    text = f"this program is for {count} ranks, and there are more or fewer"
    b.operation("cf.assert", [same], [], {"msg": ir.StringAttr.get(text)})


class _Ranks:
    """The ranks that work together in an operation: records its commands before it."""

    def __init__(self, op, module):
        self.op, self.module, self.b = op, module, Builder.before(op)
        groups = _groups(op, module)
        self.count = len(groups[0])
        whole = groups == [list(range(_total(module)))]
        self.group = None if whole else _group(op, module, groups)

    def record(self, name, source, shape, *numbers):
        made = tensor_type(shape, element_of(source))
        operands = [source, *numbers, *([self.group] if self.group else [])]
        callee = _declare(self.module, f"collective.{name}{'_in' if self.group else ''}", [each.type for each in operands], [made], True)
        return self.b.value("func.call", operands, made, {"callee": callee})

    def number(self, number):
        return _i32(self.b, number)


def _group(op, module, groups):
    """The number of this rank's group. Ranks are split where the function begins, where all of them come by, once for the same groups."""
    start = list(_function_of(op).regions[0].blocks[0].operations)
    site = _site(module, groups)
    for each in start:
        each = each.operation
        if each.name == "func.call" and str(each.attributes["callee"]) == "@collective.split" and _constant(each.operands[1]) == site:
            return each.results[0]
    checked = next(i for i, each in enumerate(start) if each.operation.name == "cf.assert")
    b = Builder.before(start[checked + 1].operation)
    i32, index, device = ir.IntegerType.get_signless(32), ir.IndexType.get(), _device_type(module.context)
    first = b.value("arith.constant", [], index, {"value": ir.IntegerAttr.get(index, 0)})
    device = b.value("func.call", [first], device, {"callee": _declare(module, "hal.devices.get", [index], [device], False)})
    rank = _host(b, module, "rank")
    color = position = _i32(b, 0)
    for i, row in enumerate(groups):
        for j, each in enumerate(row):
            is_it = _compare(b, rank, _i32(b, each))
            color, position = (b.value("arith.select", [is_it, _i32(b, number), other], i32) for number, other in ((i, color), (j, position)))
    split = _declare(module, "collective.split", [device.type, i32, i32, i32], [i32], False)
    return b.value("func.call", [device, _i32(b, site), color, position], i32, {"callee": split})


def _function_of(op):
    while op.name != "func.func":
        op = op.parent
    return op


def _constant(value):
    return ir.IntegerAttr(value.owner.attributes["value"]).value


def _site(module, groups):
    """A number for the same groups in the whole module."""
    known = module.operation.attributes
    sites = [str(each) for each in ir.ArrayAttr(known[SITES])] if SITES in known else []
    text = str(ir.StringAttr.get(str(groups)))
    if text not in sites:
        sites.append(text)
        known[SITES] = ir.ArrayAttr.get([ir.Attribute.parse(each) for each in sites])
    return sites.index(text)


def _device_type(context):
    """Which baton-compile knows, and JAX does not."""
    known, context.allow_unregistered_dialects = context.allow_unregistered_dialects, True
    try:
        return ir.Type.parse("!hal.device")
    finally:
        context.allow_unregistered_dialects = known


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


def _all_reduce(op, ranks):
    reduction = _reduction(op)
    made = []
    for each in op.operands:
        value, again = _exchanged(ranks.b, each, reduction)
        made.append(again(ranks.record("all_reduce", value, shape_of(value), ranks.number(REDUCTIONS[reduction]))))
    return made


def _all_gather(op, ranks):
    dimension = op.attributes["all_gather_dim"].value
    made = []
    for each in op.operands:
        value, again = _exchanged(ranks.b, each)
        made.append(again(_from_front(ranks.b, ranks.record("all_gather", value, [ranks.count] + shape_of(value)), dimension)))
    return made


def _reduce_scatter(op, ranks):
    reduction = _reduction(op)
    value, again = _exchanged(ranks.b, op.operands[0], reduction)
    parts = _to_front(ranks.b, value, op.attributes["scatter_dimension"].value, ranks.count)
    return [again(ranks.record("reduce_scatter", parts, shape_of(op.results[0]), ranks.number(REDUCTIONS[reduction])))]


def _all_to_all(op, ranks):
    made = []
    for each in op.operands:
        value, again = _exchanged(ranks.b, each)
        parts = _to_front(ranks.b, value, op.attributes["split_dimension"].value, ranks.count)
        parts = ranks.record("all_to_all", parts, shape_of(parts))
        made.append(again(_from_front(ranks.b, parts, op.attributes["concat_dimension"].value)))
    return made


def _broadcast(op, ranks):
    """From the first rank of each group."""
    value, again = _exchanged(ranks.b, op.operands[0])
    return [again(ranks.record("broadcast", value, shape_of(value), ranks.number(0)))]


def _permute(op, module):
    _check_element(op)
    count = _total(module)
    pairs = _rows(op.attributes["source_target_pairs"])
    _check_count(op, module, count)
    b = Builder.before(op)
    rank, to, sender = _host(b, module, "rank"), _i32(b, -1), _i32(b, -1)
    for source, target in pairs:
        to = b.value("arith.select", [_compare(b, rank, _i32(b, source)), _i32(b, target), to], to.type)
        sender = b.value("arith.select", [_compare(b, rank, _i32(b, target)), _i32(b, source), sender], to.type)
    value, again = _exchanged(b, op.operands[0])
    operands = [value, to, sender]
    callee = _declare(module, "collective.permute", [each.type for each in operands], [value.type], True)
    replace(op, [again(b.value("func.call", operands, value.type, {"callee": callee}))])
    return True


def _rank_number(op, module):
    """partition_id and replica_id: a program's devices are its ranks."""
    _check_count(op, module, _total(module))
    b = Builder.before(op)
    rank = b.value("tensor.from_elements", [_host(b, module, "rank")], tensor_type([], ir.IntegerType.get_signless(32)))
    replace(op, [b.convert(rank, element_of(op.results[0]))])
    return True


def _together(lower):
    def rewrite(op, module):
        _check_element(op)
        _check_count(op, module, _total(module))
        ranks = _Ranks(op, module)
        replace(op, lower(op, ranks))
        return True

    return rewrite


def leave_ranks(module):
    """Takes away the notes of this file."""
    for each in [module.operation, *[op.operation for op in module.body.operations]]:
        for name in (COUNTED, SITES):
            if name in each.attributes:
                del each.attributes[name]


REWRITES = {
    "stablehlo.all_reduce": _together(_all_reduce),
    "stablehlo.all_gather": _together(_all_gather),
    "stablehlo.reduce_scatter": _together(_reduce_scatter),
    "stablehlo.all_to_all": _together(_all_to_all),
    "stablehlo.collective_broadcast": _together(_broadcast),
    "stablehlo.collective_permute": _permute,
    "stablehlo.partition_id": _rank_number,
    "stablehlo.replica_id": _rank_number,
}
