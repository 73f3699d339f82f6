"""Windows over tensors of unknown sizes (JAX's call @stablehlo.dynamic_reduce_window), running sums among them.

The tensor is padded with the first value; then one dimension after the other is combined. A short window is taken element by element.
A window of unknown length is put together of runs whose lengths are powers of two, as the bits of its length say: each round joins
runs of twice the elements.
"""
from jaxlib.mlir import ir

from .build import Builder, element_of, integers, is_value, shape_of, tensor_type
from .scalars import entries
from .sorting import replace

SHORT = 16  # Elements of a window that are taken one by one.


def lower_dynamic_reduce_window(op, module):
    window, strides, spread, dilations, padding = (entries(each) for each in list(op.operands)[2 * len(op.results):])
    lower_windows(op, _computation(op, module), window, strides, spread, dilations, padding)


def lower_windows(op, block, window, strides, spread, dilations, padding):
    """`spread` and `dilations`: the distance of two elements of the tensor, and of two of a window."""
    count, b = len(op.results), Builder.before(op)
    values, firsts = list(op.operands)[:count], list(op.operands)[count:2 * count]
    values = [padded(b, value, first, padding[0::2], padding[1::2], spread) for value, first in zip(values, firsts)]
    for dimension, (length, stride, dilation) in enumerate(zip(window, strides, dilations)):
        if (length, stride) != (1, 1):
            values = _Along(b, values, dimension, block, length, stride, dilation).combined()
    firsts = [b.broadcast(first, b.sizes(value), []) for first, value in zip(firsts, values)]
    made = b.apply(block, [*firsts, *values])
    replace(op, [value if value.type == result.type else b.value("tensor.cast", [value], result.type) for value, result in zip(made, op.results)])


def _computation(op, module):
    """The region of what the call names. It ends as regions of StableHLO do from now on, and goes with them."""
    name = ir.FlatSymbolRefAttr(ir.ArrayAttr(op.attributes["called_computations"])[0]).value
    block = ir.SymbolTable(module.operation)[name].regions[0].blocks[0]
    last = list(block.operations)[-1].operation
    if last.name == "func.return":
        Builder.before(last).operation("stablehlo.return", list(last.operands))
        last.erase()
    return block


def padded(b, value, first, low, high, spread):
    """What stands around, numbers or values, and between elements that are `spread` apart, is the first value."""
    shape = [-1 if size < 0 or any(map(is_value, around)) else (size - 1) * around[2] + 1 + around[0] + around[1]
             for size, around in zip(shape_of(value), zip(low, high, spread))]
    made, between = tensor_type(shape, element_of(value)), [each - 1 for each in spread]
    if any(map(is_value, (*low, *high))):
        return b.value("stablehlo.dynamic_pad", [value, first, *map(b.vector, (low, high, between))], made)
    if not any((*low, *high, *between)):
        return value
    attributes = {"edge_padding_low": integers(low), "edge_padding_high": integers(high), "interior_padding": integers(between)}
    return b.value("stablehlo.pad", [value, first], made, attributes)


def count_of_windows(b, size, length, stride, dilation):
    """Along a dimension; each of these numbers may be a value."""
    if (length, stride) == (1, 1):
        return size
    is_open = is_value(length) or is_value(dilation)
    reach = b.multiply(b.number(b.difference(length, 1)), b.number(dilation)) if is_open else (length - 1) * dilation
    last = b.difference(b.difference(size, 1), reach)
    if is_value(last) or is_value(stride):
        return b.add(b.divide(b.number(last), b.number(stride)), 1)
    return last // stride + 1


class _Along:
    """Windows along one dimension, whose elements are rows of matrices."""

    def __init__(self, b, values, dimension, block, length, stride, dilation):
        self.b, self.block, self.length, self.stride, self.dilation = b, block, length, stride, dilation
        rank = len(shape_of(values[0]))
        self.order = [dimension] + [i for i in range(rank) if i != dimension]
        self.sizes = [b.sizes(values[0])[i] for i in self.order]
        matrix = [self.sizes[0], b.product(self.sizes[1:])]
        self.rows = [b.reshape(b.transpose(value, self.order), matrix) for value in values]
        begins = count_of_windows(b, self.sizes[0], length, stride, dilation)
        self.begin = b.multiply(b.iota([begins], 0), b.filled(stride, b.iota([begins], 0)))

    def combined(self):
        is_short = not is_value(self.length) and self.length <= SHORT
        rows = self._one_by_one() if is_short else self._by_runs()
        b, shape = self.b, [self.b.sizes(self.begin)[0], *self.sizes[1:]]
        back = [self.order.index(i) for i in range(len(self.order))]
        return [b.transpose(b.reshape(each, shape), back) for each in rows]

    def _taken(self, b, rows, offset):
        """For each window the run that begins at the element of this number."""
        distance = b.multiply(b.number(offset), b.number(self.dilation))
        return [b.take(each, b.add(self.begin, b.filled(distance, self.begin))) for each in rows]

    def _one_by_one(self):
        total = self._taken(self.b, self.rows, 0)
        for offset in range(1, self.length):
            total = self.b.apply(self.block, [*total, *self._taken(self.b, self.rows, offset)])
        return total

    def _by_runs(self):
        b, place = self.b, self.b.iota(self.sizes[:1], 0)
        last = b.filled(b.difference(self.sizes[0], 1), place)
        count = len(self.rows)

        def double(inner, carried):
            run, offset, left, rows, total = *carried[:3], list(carried[3:3 + count]), list(carried[3 + count:])
            odd = inner.compare("EQ", inner.each("remainder", left, inner.scalar(2)), 1)
            total = inner.choose(odd, [each.type for each in total], lambda then: then.apply(self.block, [*total, *self._taken(then, rows, offset)]), lambda _: total)
            offset = inner.select(odd, inner.add(offset, run), offset)
            # Runs that would reach behind the end are part of no window.
            behind = inner.add(place, inner.filled(inner.multiply(run, inner.number(self.dilation)), place))
            rows = inner.apply(self.block, [*rows, *(inner.take(each, inner.minimum(behind, last)) for each in rows)])
            return [inner.add(run, run), offset, inner.divide(left, inner.scalar(2)), *rows, *total]

        carried = [b.scalar(1), b.scalar(1), b.number(b.difference(self.length, 1)), *self.rows, *self._taken(b, self.rows, 0)]
        return b.loop(carried, lambda inner, carried: inner.compare("GT", carried[2], 0), double)[3 + count:]
