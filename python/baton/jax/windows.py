"""stablehlo.select_and_scatter, the gradient of a maximum over windows: each window's element is found place by place, then what the
window gives is added there, place by place."""
import itertools

from jaxlib.mlir import ir

from .build import Builder, element_of, has_unknown_sizes, is_value, shape_of, tensor_type
from .sorting import replace
from .windows_unknown import padded


def lower_select_and_scatter(op, module):
    b = Builder.before(op)
    value, source, first = op.operands
    rank = len(shape_of(value))
    window = numbers_of(op, "window_dimensions", [1] * rank)
    strides = numbers_of(op, "window_strides", [1] * rank)
    padding = padding_of(op, rank)
    counts, shape = b.sizes(source), b.sizes(value)
    which = _selected(b, op, value, window, strides, padding, counts)
    made = b.broadcast(first, shape, [])
    combiner = op.regions[1].blocks[0]
    for number, offsets in enumerate(itertools.product(*map(range, window))):
        mine = b.compare("EQ", which, number)
        given = b.select(mine, source, b.broadcast(first, counts, []))
        made = b.apply(combiner, [made, _spread(b, given, first, offsets, strides, padding, shape)])[0]
    replace(op, [made])
    return True


def numbers_of(op, name, otherwise):
    return list(op.attributes[name]) if name in op.attributes else otherwise


def padding_of(op, rank):
    if "padding" not in op.attributes:
        return [(0, 0)] * rank
    values = list(ir.DenseIntElementsAttr(op.attributes["padding"]))
    values = values * (2 * rank) if len(values) == 1 else values
    return list(zip(values[::2], values[1::2]))


def _selected(b, op, value, window, strides, padding, counts):
    """For each window the number, within it, of the element that the region selects; padding is never selected."""
    best = which = None
    for number, offsets in enumerate(itertools.product(*map(range, window))):
        there, inside = _elements(b, value, offsets, strides, padding, counts)
        if best is None:
            best, which, has = there, b.select(inside, _number(b, counts, 0), _number(b, counts, -1)), inside
            continue
        stays = b.both(has, b.apply(op.regions[0].blocks[0], [best, there])[0])
        takes = b.both(inside, b.negated(stays))
        best, which = b.select(takes, there, best), b.select(takes, _number(b, counts, number), which)
        has = b.either(has, inside)
    return which


def _number(b, shape, number):
    return b.full(shape, number, ir.IntegerType.get_signless(32))


def _elements(b, value, offsets, strides, padding, counts):
    """The element of each window at these offsets, and whether it is one of the tensor."""
    shape = b.sizes(value)
    inside = b.full(counts, 1, ir.IntegerType.get_signless(1))
    zero = b.scalar(0, element_of(value))
    wide = padded(b, value, zero, *(list(each) for each in zip(*padding)), [1] * len(shape))
    ends = [_end(b, count, stride, offset) for offset, count, stride in zip(offsets, counts, strides)]
    for dimension, (offset, stride, (low, _), size) in enumerate(zip(offsets, strides, padding, shape)):
        place = b.add(b.multiply(b.iota(counts, dimension), stride), offset - low)
        inside = b.both(inside, b.both(b.compare("GE", place, 0), b.compare("LT", place, b.filled(size, place))))
    return b.slice(wide, list(offsets), ends, list(strides)), inside


def _spread(b, given, first, offsets, strides, padding, shape):
    """What windows give, at the places of the tensor: between them, and around, the first value."""
    low = [offset - before for offset, (before, _) in zip(offsets, padding)]
    high = [b.difference(size, _end(b, count, stride, l)) for size, l, count, stride in zip(shape, low, b.sizes(given), strides)]
    made = padded(b, given, first, low, high, strides)
    return made if not has_unknown_sizes(made) else b.value("tensor.cast", [made], tensor_type(shape, element_of(given)))


def _end(b, count, stride, begin):
    """Behind the last of so many elements."""
    if not is_value(count):
        return begin + (count - 1) * stride + 1
    return b.add(b.multiply(b.difference(count, 1), stride), begin + 1)
