"""stablehlo.sort, for any comparator, stable: by counting for short rows, by merging for long ones.

Rows are brought to the last of two dimensions. An element's place is the number of elements that stand before it: those for
which the comparator says so, and equal ones of a smaller index. Counting them for each element is n * n comparisons of one
kernel, which fills a device up to a few thousand elements. Longer rows are cut into blocks that are sorted so; then runs are
merged two by two: each place of the merged run finds by bisection how many of its elements come from the left run.
"""
from jaxlib.mlir import ir

from .boundary import entries
from .build import Builder, element_of, shape_of

COUNTED_MAX = 2048  # Elements of a row that are sorted by counting.
BLOCK = 256  # Of a longer row: counted first, then merged.


def lower_sort(op):
    compare = _comparator(op.regions[0].blocks[0])
    replace(op, _sorted(Builder.before(op), list(op.operands), op.attributes["dimension"].value, compare))


def lower_approximate_top_k(op, module):
    """The exact ones: all are sorted by the comparator that the call names, and as many are taken as the results hold."""
    configuration = entries(op.attributes["mhlo.backend_config"])
    dimension = int(configuration["reduction_dim"])
    name = ir.FlatSymbolRefAttr(ir.ArrayAttr(op.attributes["called_computations"])[0]).value
    comparator = next(each for each in module.body.operations if ir.StringAttr(each.attributes["sym_name"]).value == name)
    b, values = Builder.before(op), list(op.operands)[:len(op.results)]
    ordered = _sorted(b, values, dimension, _comparator(comparator.regions[0].blocks[0]))
    replace(op, [b.slice(each, [0] * len(shape_of(result)), shape_of(result)) for each, result in zip(ordered, op.results)])


def _sorted(b, values, dimension, compare):
    shape = shape_of(values[0])
    if not shape or 0 in shape or shape[dimension] == 1:
        return values
    if any(size < 0 for size in shape):
        raise NotImplementedError("stablehlo.sort of a tensor with sizes that are not known is not lowered; give them when lowering")
    order = [i for i in range(len(shape)) if i != dimension] + [dimension]
    moved = [shape[i] for i in order]
    count = shape[dimension]
    rows = [b.reshape(b.transpose(each, order), [-(-_product(moved) // count), count]) for each in values]
    rows = sort_counting(b, rows, compare) if count <= COUNTED_MAX else sort_merging(b, rows, compare)
    back = [order.index(i) for i in range(len(shape))]
    return [b.transpose(b.reshape(each, moved), back) for each in rows]


def replace(op, values):
    for result, value in zip(op.results, values):
        result.replace_all_uses_with(value)
    op.erase()


def _product(sizes):
    product = 1
    for size in sizes:
        product *= size
    return product


def _comparator(block):
    def before(b, lefts, rights):
        pairs = [each for pair in zip(lefts, rights) for each in pair]
        return b.apply(block, pairs)[0]

    return before


def sort_counting(b, rows, before):
    batch, count = shape_of(rows[0])
    return _permuted(b, rows, order_counting(b, rows, before, [batch, count]))


def order_counting(b, rows, before, shape):
    """For each place of a sorted row the index of the element that comes there."""
    batch, count = shape
    square = [batch, count, count]
    mine = [b.broadcast(row, square, [0, 1]) for row in rows]
    other = [b.broadcast(row, square, [0, 2]) for row in rows]
    i, j = b.iota(square, 1), b.iota(square, 2)
    # `other` stands before `mine`; of two that are equal, the one with the smaller index.
    first = b.select(b.compare("LT", j, i), b.negated(before(b, mine, other)), before(b, other, mine))
    place = b.reduce("add", b.convert(first, element_of(i)), 0, 2)
    lands = b.compare("EQ", b.broadcast(place, square, [0, 2]), i)
    return b.reduce("add", b.select(lands, j, b.like(j, 0)), 0, 2)


def _permuted(b, rows, order):
    batch, count = shape_of(order)
    flat = b.reshape(b.add(order, b.multiply(b.iota([batch, count], 0), count)), [batch * count])
    return [b.reshape(b.take(b.reshape(row, [batch * count]), flat), [batch, count]) for row in rows]


def sort_merging(b, rows, before):
    """Blocks sorted by counting, then runs of doubled length; what fills the last block stands behind all others."""
    batch, count = shape_of(rows[0])
    padded = BLOCK
    while padded < count:
        padded *= 2
    index = b.iota([batch, count], 1)
    padding = [[0, 0], [0, padded - count]]
    rows = [b.pad(row, 0, *padding) for row in [*rows, index]]
    real = b.compare("LT", b.iota([batch, padded], 1), count)
    rows[-1] = b.select(real, rows[-1], b.iota([batch, padded], 1))

    def first(inner, lefts, rights):
        """Stable: of equal elements the one with the smaller index; what fills up is last."""
        left, right = lefts[-1], rights[-1]
        says = inner.select(inner.compare("LT", left, right), inner.negated(before(inner, rights[:-1], lefts[:-1])),
                            before(inner, lefts[:-1], rights[:-1]))
        fills_left, fills_right = inner.compare("GE", left, count), inner.compare("GE", right, count)
        either = inner.either(fills_left, fills_right)
        return inner.select(either, inner.compare("LT", left, right), says)

    blocks = [b.reshape(row, [batch * padded // BLOCK, BLOCK]) for row in rows]
    flat = [b.reshape(row, [batch * padded]) for row in sort_counting(b, blocks, first)]
    flat = _merged(b, flat, first, padded)
    return [b.slice(b.reshape(row, [batch, padded]), [0, 0], [batch, count]) for row in flat[:-1]]


def _merged(b, rows, first, padded):
    total = shape_of(rows[0])[0]
    b_width = b.scalar(BLOCK)

    def pass_over(inner, carried):
        width, rows = carried[0], list(carried[1:])
        wide = inner.broadcast(width, [total], [])
        place = inner.iota([total], 0)
        pair = inner.multiply(inner.divide(place, inner.multiply(wide, inner.like(wide, 2))), inner.multiply(wide, inner.like(wide, 2)))
        at = inner.subtract(place, pair)
        # Of the `at` elements before this place, between low and high come from the left run.
        low = inner.maximum(inner.subtract(at, wide), 0)
        high = inner.minimum(at, wide)
        left, right = pair, inner.add(pair, wide)

        def halve(step, state):
            steps, low, high = state
            middle = step.divide(step.add(low, high), 2)
            lefts = [step.take(row, step.add(left, middle)) for row in rows]
            rights = [step.take(row, step.add(right, step.subtract(step.subtract(at, middle), 1))) for row in rows]
            more = step.both(step.compare("LT", low, high), first(step, lefts, rights))
            less = step.both(step.compare("LT", low, high), step.negated(first(step, lefts, rights)))
            return [step.subtract(steps, 1), step.select(more, step.add(middle, 1), low), step.select(less, middle, high)]

        steps = inner.scalar(max(1, padded.bit_length()))
        _, low, _ = inner.loop([steps, low, high], lambda step, state: step.compare("GT", state[0], 0), halve)
        from_right = inner.subtract(at, low)
        lefts = [inner.take(row, inner.add(left, low)) for row in rows]
        rights = [inner.take(row, inner.add(right, from_right)) for row in rows]
        has_left, has_right = inner.compare("LT", low, wide), inner.compare("LT", from_right, wide)
        is_left = inner.both(has_left, inner.either(inner.negated(has_right), first(inner, lefts, rights)))
        return [inner.multiply(width, inner.scalar(2)), *(inner.select(is_left, *pair) for pair in zip(lefts, rights))]

    return b.loop([b_width, *rows], lambda inner, carried: inner.compare("LT", carried[0], padded), pass_over)[1:]
