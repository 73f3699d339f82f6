"""Factorizations of a batch whose size is not known: a loop over its matrices, whose sizes are."""
from jaxlib.mlir import ir

from .build import Builder, element_of, shape_of, tensor_type
from .sorting import replace


def lower_one_by_one(op, lower):
    """A call of LAPACK's; `lower` lowers the same call of one matrix, without dimensions of a batch."""
    b = Builder.before(op)
    operands = _without_shapes(op)
    rank = len(shape_of(operands[0])) - 2
    tails = [shape_of(each)[rank:] for each in (*operands, *op.results)]
    if any(size < 0 for tail in tails for size in tail):
        raise NotImplementedError(f"custom_call @{op.attributes['call_target_name'].value} of matrices whose sizes are not known is not lowered: give them "
                                  "sizes; that of a batch may be unknown")
    batch = b.sizes(operands[0])[:rank]
    count = b.product(batch)
    flat = [each if _number_of(each) else b.reshape(each, [count, *tail]) for each, tail in zip(operands, tails)]
    results = [b.full([count, *tail], 0, element_of(each)) for each, tail in zip(op.results, tails[len(operands):])]

    def step(s, carried):
        k, results = carried[0], carried[1:]
        mine = [_one_of(s, each, k, tail) for each, tail in zip(flat, tails)]
        types = [tensor_type(shape_of(each)[1:], element_of(each)) for each in results]
        attributes = {name: op.attributes[name] for name in ("call_target_name", "mhlo.backend_config")}
        inner = s.operation(op.name, mine, types, attributes)
        made = []
        for result, whole in zip(inner.results, results):
            places = [k, *[s.scalar(0)] * len(shape_of(result))]
            made.append(s.dynamic_update_slice(whole, s.reshape(result, [1, *shape_of(result)]), places))
        lower(inner)
        return [s.add(k, s.scalar(1)), *made]

    made = b.loop([b.scalar(0), *results], lambda s, carried: s.compare("LT", carried[0], s.number(count)), step)[1:]
    replace(op, [b.reshape(each, [*batch, *shape_of(each)[1:]]) for each in made])


def _without_shapes(op):
    """The operands that are no shapes of results, which JAX adds where sizes are unknown."""
    if "indices_of_shape_operands" not in op.attributes:
        return list(op.operands)
    shapes = [int(each) for each in ir.DenseIntElementsAttr(op.attributes["indices_of_shape_operands"])]
    return [each for i, each in enumerate(op.operands) if i not in shapes]


def _number_of(value):
    """The one number that all elements are, where that is written."""
    made = None if isinstance(value.owner, ir.Block) else value.owner
    if made is None or made.name not in ("stablehlo.dynamic_broadcast_in_dim", "stablehlo.broadcast_in_dim") or shape_of(made.operands[0]):
        return None
    return made.operands[0]


def _one_of(b, value, k, tail):
    number = _number_of(value)
    if number is not None:
        return b.broadcast(number, tail, [])
    return b.reshape(b.take(value, b.reshape(k, [1])), tail)
