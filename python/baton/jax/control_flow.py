"""stablehlo.while, if and case → scf; what steers them are scalars of the host (scalars.py)."""
from jaxlib.mlir import ir

from .build import Builder
from .scalars import constant, is_arithmetic, is_number, owner_of


def lower_control_flow(operations, scalars):
    """Each of `operations` stands behind those inside of it."""
    for op in operations:
        if op.name == "stablehlo.while":
            lower_while(op, scalars)
        elif op.name == "stablehlo.if":
            lower_branches(op, [op.regions[0], op.regions[1]], scalars, of_truth=True)
        elif op.name == "stablehlo.case":
            lower_branches(op, list(op.regions), scalars, of_truth=False)


def is_inside(op, outer):
    while op is not None:
        if op == outer:
            return True
        op = op.parent.operation if op.parent is not None else None
    return False


def counters(op):
    """Which carried values stay on the host: numbers whose next value is made of such numbers and of what is known outside."""
    body = op.regions[1].blocks[0]
    yielded = list(list(body.operations)[-1].operands)
    kept = {i for i, value in enumerate(yielded) if is_number(value)}

    seen = {}

    def is_known(value):
        if value not in seen:
            seen[value] = is_known_now(value)
        return seen[value]

    def is_known_now(value):
        made = owner_of(value)
        if made is None:
            block = value.owner
            return value.arg_number in kept if block == body else not is_inside(block.owner.operation, op)
        if not is_inside(made, op) or made.name in ("stablehlo.constant", "stablehlo.get_dimension_size", "tensor.from_elements"):
            return True
        return is_arithmetic(made) and all(is_known(each) for each in made.operands)

    while True:
        seen.clear()
        lost = {i for i in kept if not is_known(yielded[i])}
        if not lost:
            return kept
        kept -= lost


def lower_while(op, scalars):
    kept = counters(op)
    b = Builder.before(op)
    carried = [scalars.of(each) if i in kept else each for i, each in enumerate(op.operands)]
    made = b.operation("scf.while", carried, [each.type for each in carried], regions=2)
    for region, source in zip(made.regions, op.regions):
        source.blocks[0].append_to(region)
        _receive(region.blocks[0], kept, scalars)
    before, after = (region.blocks[0] for region in made.regions)
    (condition,), end = _terminator(before)
    end.operation("scf.condition", [scalars.of(condition), *before.arguments])
    values, end = _terminator(after)
    end.operation("scf.yield", [scalars.of(each) if i in kept else each for i, each in enumerate(values)])
    for block in (before, after):
        _return_of(block).erase()
    scalars.replace(op, [scalars.tensor(b, each) if i in kept else each for i, each in enumerate(made.results)])


def _receive(block, kept, scalars):
    """Arguments that stay on the host become scalars, and tensors of them for what else reads them."""
    b = Builder(ir.InsertionPoint.at_block_begin(block), block.owner.location)
    for i in kept:
        argument = block.arguments[i]
        element = ir.RankedTensorType(argument.type).element_type
        scalars.known.pop(argument, None)
        argument.set_type(element)
        made = scalars.tensor(b, argument)
        argument.replace_all_uses_except(made, made.owner.operation)


def _return_of(block):
    return next(each.operation for each in block.operations if each.operation.name == "stablehlo.return")


def _terminator(block):
    returned = _return_of(block)
    return list(returned.operands), Builder.before(returned)


def lower_branches(op, regions, scalars, of_truth):
    """A chain of scf.if; a number that names no branch names the last one."""
    if len(regions) == 1:
        _open(op, regions[0], scalars)
        return
    b = Builder.before(op)
    types = [each.type for each in op.results]
    which = scalars.of(op.operands[0])

    def branch(builder, at):
        if at == len(regions) - 1:
            return None
        if of_truth:
            condition = which
        else:
            equal = {"predicate": ir.IntegerAttr.get(ir.IntegerType.get_signless(64), 0)}
            condition = builder.value("arith.cmpi", [which, constant(builder, at, which.type)], ir.IntegerType.get_signless(1), equal)
        made = builder.operation("scf.if", [condition], types, regions=2)
        _move(regions[at], made.regions[0])
        if at + 2 == len(regions):
            _move(regions[at + 1], made.regions[1])
        else:
            inner = Builder(ir.InsertionPoint(made.regions[1].blocks.append()), op.location)
            inner.operation("scf.yield", branch(inner, at + 1).results)
        return made

    scalars.replace(op, branch(b, 0).results)


def _open(op, region, scalars):
    """A branch without another is taken whatever the number is."""
    returned = _return_of(region.blocks[0])
    values = list(returned.operands)
    returned.erase()
    for each in list(region.blocks[0].operations):
        each.operation.move_before(op)
    scalars.replace(op, values)


def _move(source, region):
    source.blocks[0].append_to(region)
    values, end = _terminator(region.blocks[0])
    end.operation("scf.yield", values)
    _return_of(region.blocks[0]).erase()
