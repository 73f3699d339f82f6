"""stablehlo.select_and_scatter, the gradient of a maximum over windows: each window's element is found place by place, then what the
window gives is added there, place by place. And windows that reach back to where the tensor begins, as running sums have them: n * n
steps as windows, n * log(n) as sums of runs that double."""
import itertools

from jaxlib.mlir import ir

from .build import Builder, element_of, has_unknown_sizes, integers, is_value, shape_of, tensor_type
from .sorting import replace
from .windows_unknown import padded


def lower_select_and_scatter(op, module):
    b = Builder.before(op)
    value, source, first = op.operands
    rank = len(shape_of(value))
    window = _numbers(op, "window_dimensions", [1] * rank)
    strides = _numbers(op, "window_strides", [1] * rank)
    padding = _padding(op, rank)
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


FEW_ELEMENTS = 16  # As windows they are one kernel.


def running_dimension(op):
    """Along which each window holds all elements before its own (or all behind it, then the second result is True); or None."""
    shape, rank = shape_of(op.operands[0]), len(shape_of(op.operands[0]))
    window = _numbers(op, "window_dimensions", [1] * rank)
    steps = [_numbers(op, name, [1] * rank) for name in ("window_strides", "window_dilations", "base_dilations")]
    wide = [i for i, size in enumerate(window) if size != 1]
    if len(wide) != 1 or shape[wide[0]] != window[wide[0]] or any(each != 1 for every in steps for each in every):
        return None
    (dimension,) = wide
    padding, reach = _padding(op, rank), window[dimension] - 1
    if any(padding[i] != (0, 0) for i in range(rank) if i != dimension) or padding[dimension] not in ((reach, 0), (0, reach)):
        return None
    return dimension, padding[dimension] == (0, reach)


def lower_running(op):
    """Each round joins runs of twice the elements; True when the operation is gone."""
    found = running_dimension(op)
    shape = shape_of(op.operands[0])
    if found is None or shape[found[0]] <= FEW_ELEMENTS:
        return False
    b, (dimension, is_backward) = Builder.before(op), found
    values, firsts = list(op.operands)[:len(op.results)], list(op.operands)[len(op.results):]
    run = 1
    while run < shape[dimension]:
        low = [0] * len(shape)
        low[dimension] = -run if is_backward else run
        moved = [_moved(b, value, first, low) for value, first in zip(values, firsts)]
        values = b.apply(op.regions[0].blocks[0], [*values, *moved] if is_backward else [*moved, *values])
        run *= 2
    replace(op, values)
    return True


def _moved(b, value, first, low):
    """Elements go up by `low`; `first` comes where none is."""
    attributes = {"edge_padding_low": integers(low), "edge_padding_high": integers(-each for each in low),
                  "interior_padding": integers([0] * len(low))}
    return b.value("stablehlo.pad", [value, first], value.type, attributes)


def _numbers(op, name, otherwise):
    return list(op.attributes[name]) if name in op.attributes else otherwise


def _padding(op, rank):
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
