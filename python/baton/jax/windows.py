"""stablehlo.select_and_scatter, the gradient of a maximum over windows: each window's element is found place by place, then each
element takes what the few windows around it give it, or where none overlap, is given it place by place."""
import itertools

from jaxlib.mlir import ir

from .build import Builder, element_of, has_unknown_sizes, is_value, shape_of, tensor_type
from .on_cores import call_either
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
    combiner = op.regions[1].blocks[0]
    has_known_sizes = not has_unknown_sizes(value, source)
    overlap = any(size > stride for size, stride in zip(window, strides))

    def taken(inner, given):
        return [_taken(inner, combiner, *given, window, strides, padding, shape)]

    def given_place_by_place(inner, given):
        return [_given(inner, combiner, *given, window, strides, padding, shape)]

    operands = [which, source, first]
    if overlap and has_known_sizes:
        replace(op, taken(b, operands))
    elif has_known_sizes and is_closed(combiner):
        # An element of one window at most is as well written there: a core goes along those of a window faster.
        replace(op, call_either(b, module, "given", operands, [op.results[0].type], given_place_by_place, on_blocks=taken))
    else:
        replace(op, given_place_by_place(b, operands))
    return True


def is_closed(block):
    """Whether its operations use nothing from outside."""
    mine = [*block.arguments, *(result for op in block.operations for result in op.operation.results)]
    return all(each in mine for op in block.operations for each in op.operation.operands)


def _given(b, combiner, which, source, first, window, strides, padding, shape):
    """What windows give their elements, place by place."""
    made, counts = b.broadcast(first, shape, []), b.sizes(source)
    for number, offsets in enumerate(itertools.product(*map(range, window))):
        mine = b.compare("EQ", which, number)
        given = b.select(mine, source, b.broadcast(first, counts, []))
        made = b.apply(combiner, [made, _spread(b, given, first, offsets, strides, padding, shape)])[0]
    return made


def _taken(b, combiner, which, source, first, window, strides, padding, shape):
    """What the elements of the tensor take, all at once. Element stride * m + q is the one with number q + low - stride * e in window
    m + e: a dimension is written as one of all m and one of all q, and each e reads one window for all of them."""
    axes = [_Axis(*each) for each in zip(shape, window, strides, (low for low, _ in padding), shape_of(source))]
    split = [size for axis in axes for size in ([axis.blocks, axis.stride] if axis.stride > 1 else [axis.blocks])]
    place = [sum(1 + (axis.stride > 1) for axis in axes[:i]) for i in range(len(axes))]
    low, high = [axis.before for axis in axes], [axis.behind for axis in axes]
    none, plain = b.scalar(-1), [1] * len(axes)
    which, source = padded(b, which, none, low, high, plain), padded(b, source, first, low, high, plain)
    nothing = b.broadcast(first, split, [])
    made = nothing
    for moves in itertools.product(*(reversed(axis.moves) for axis in axes)):
        begin = [move + axis.before for move, axis in zip(moves, axes)]
        end = [start + axis.blocks for start, axis in zip(begin, axes)]
        mine, given = (b.broadcast(b.slice(each, begin, end), split, place) for each in (which, source))
        is_mine, number = None, b.full(split, 0, ir.IntegerType.get_signless(32))
        for axis, move, dimension in zip(axes, moves, place):
            first_inside = axis.low - axis.stride * move
            inside = b.full(split, first_inside, ir.IntegerType.get_signless(32))
            if axis.stride > 1:
                inside = b.add(b.iota(split, dimension + 1), inside)
            if axis.stride > 1 and not (0 <= first_inside and first_inside + axis.stride <= axis.window):
                is_one = b.both(b.compare("GE", inside, 0), b.compare("LT", inside, axis.window))
                is_mine = is_one if is_mine is None else b.both(is_mine, is_one)
            number = b.add(b.multiply(number, axis.window), inside)
        equal = b.compare("EQ", mine, number)
        is_mine = equal if is_mine is None else b.both(is_mine, equal)
        made = b.apply(combiner, [made, b.select(is_mine, given, nothing)])[0]
    made = b.reshape(made, [axis.blocks * axis.stride for axis in axes])
    return made if shape_of(made) == list(shape) else b.slice(made, [0] * len(shape), shape)


class _Axis:
    """A dimension of so many elements in blocks of `stride`. The windows that a block's elements are in are as many further as `moves`
    says; so many stand before the first and behind the last one."""

    def __init__(self, size, window, stride, low, windows):
        self.window, self.stride, self.low = window, stride, low
        self.blocks = -(-size // stride)
        self.moves = range(-((window - 1 - low) // stride), (stride - 1 + low) // stride + 1)
        self.before = max(0, -self.moves[0])
        self.behind = max(0, self.moves[-1] + self.blocks - windows)


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
    for dimension, (offset, stride, (low, _), size, end) in enumerate(zip(offsets, strides, padding, shape, ends)):
        if not (is_value(size) or is_value(end)) and 0 <= offset - low and end - low <= size:
            continue
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
