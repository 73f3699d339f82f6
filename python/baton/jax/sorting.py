"""stablehlo.sort, for any comparator, stable: by counting for short rows, by merging for long ones.

Rows are brought to the last of two dimensions. Where little is to be compared, and for comparators that only a program knows,
elements are counted: an element's place is the number of elements that stand before it: those for
which the comparator says so, and equal ones of a smaller index. Counting them for each element is n * n comparisons of one
kernel. Comparators that compare numbers (`sort_keys`) make rows of keys, which networks sort (`sort_networks`), the last key
first. Longer rows of others are cut into blocks that are counted; then runs are merged two by two: each place of the merged run
finds by bisection how many of its elements come from the left run.

Of rows that are sorted for their first few elements (top-k), blocks are compared by their first elements: what comes among
the first k of a row lies in the k blocks whose first elements come first. So a row shrinks until counting it is little work.
"""
from jaxlib.mlir import ir

from . import sort_networks
from .build import Builder, element_of, has_unknown_sizes, is_value, shape_of
from .scalars import entries
from .sort_keys import keys_of

COMPARED_MAX = 1 << 18  # Comparisons of all rows that are done by counting, whatever is compared.
COUNTED_MAX = 2048  # Elements of a row that are sorted by counting.
BLOCK = 256  # Of a longer row: counted first, then merged.
SHORT = 64  # Elements of a row that are sorted by counting where the number of rows is unknown.
FEW_MAX = 256  # Elements at the front of a row for which it isn't sorted whole.


def lower_sort(op):
    compare, dimension = op.regions[0].blocks[0], op.attributes["dimension"].value
    if dimension < 0:  # Counted from the end.
        dimension += len(shape_of(op.operands[0]))
    few = _few_wanted(op, dimension)
    values = _sorted(Builder.before(op), list(op.operands), dimension, compare, few)
    if few is None or has_unknown_sizes(op.operands[0]):  # A slice of an unknown size finds its end by itself.
        replace(op, values)
        return
    for result, value in zip(op.results, values):
        for slice_ in [use.owner for use in result.uses]:
            limits = list(ir.DenseI64ArrayAttr(slice_.attributes["limit_indices"]))
            replace(slice_, [Builder.before(slice_).slice(value, [0] * len(limits), limits)])
    op.erase()


def _few_wanted(op, dimension):
    """How many elements at the front of each row are read, where these are few and nothing else is."""
    most = 0
    for result in op.results:
        for use in result.uses:
            limit = _front(use.owner, dimension)
            if limit is None:
                return None
            most = max(most, limit)
    return most if 0 < most <= FEW_MAX and 4 * most <= shape_of(op.results[0])[dimension] else None


def _front(op, dimension):
    """How many elements of the front of a dimension an operation reads, if it reads nothing else."""
    if op.name == "stablehlo.slice":
        starts, limits, strides = (list(ir.DenseI64ArrayAttr(op.attributes[name])) for name in ("start_indices", "limit_indices", "strides"))
    elif op.name == "stablehlo.real_dynamic_slice":
        starts, limits, strides = (entries(each) for each in list(op.operands)[1:])
    else:
        return None
    is_plain = not any(map(is_value, [*starts, *strides, limits[dimension]])) and not any(starts) and all(stride == 1 for stride in strides)
    return limits[dimension] if is_plain else None


def lower_approximate_top_k(op, configuration):
    """The exact ones: all are sorted by the comparator that the call names, and as many are taken as the results hold."""
    dimension = int(configuration["reduction_dim"])
    name = ir.FlatSymbolRefAttr(ir.ArrayAttr(op.attributes["called_computations"])[0]).value
    comparator = ir.SymbolTable(_module_of(op))[name]
    b, values = Builder.before(op), list(op.operands)[:len(op.results)]
    few = shape_of(op.results[0])[dimension]
    ordered = _sorted(b, values, dimension, comparator.regions[0].blocks[0], few)
    replace(op, [b.slice(each, [0] * len(shape_of(result)), shape_of(result)) for each, result in zip(ordered, op.results)])


def _module_of(op):
    while op.name != "builtin.module":
        op = op.parent
    return op


def _sorted(b, values, dimension, compare, few=None):
    """`values` in the order of a comparator along `dimension`; the first `few` of them are enough, where that is given."""
    shape = shape_of(values[0])
    if not shape or 0 in shape or shape[dimension] == 1:
        return values
    if has_unknown_sizes(values[0]):
        return sorted_of_unknown_sizes(b, values, dimension, compare, few)
    order = [i for i in range(len(shape)) if i != dimension] + [dimension]
    moved = [shape[i] for i in order]
    count = shape[dimension]
    rows = [b.reshape(b.transpose(each, order), [-(-_product(moved) // count), count]) for each in values]
    few = few if few and 4 * few <= count else None
    rows = _rows_in_order(b, rows, compare, few)
    moved[-1] = few or count
    back = [order.index(i) for i in range(len(shape))]
    return [b.transpose(b.reshape(each, moved), back) for each in rows]


def sorted_of_unknown_sizes(b, values, dimension, compare, few):
    """An unknown number of rows as others, where their length is known; rows of unknown length by merging runs, from those of one
    element on."""
    sizes = b.sizes(values[0])
    order = [i for i in range(len(sizes)) if i != dimension] + [dimension]
    moved = [sizes[i] for i in order]
    batch, count = b.product(moved[:-1]), moved[-1]
    rows = [b.reshape(b.transpose(each, order), [batch, count]) for each in values]
    rows = merged_from_single(b, rows, _comparator(compare)) if is_value(count) else _many_rows_in_order(b, rows, compare, few)
    moved[-1] = b.sizes(rows[0])[1]
    back = [order.index(i) for i in range(len(order))]
    return [b.transpose(b.reshape(each, moved), back) for each in rows]


def _many_rows_in_order(b, rows, compare, few):
    """Of a known length; the first `few` of each, where that is given and little work."""
    count = b.sizes(rows[0])[1]
    if count <= SHORT:
        return sort_counting(b, rows, _comparator(compare))
    few = few if few and 4 * few <= count else None
    keys = keys_of(b, compare, rows)
    if keys:
        return _permuted(b, rows, order_of_keys(b, keys, few if len(keys) == 1 else None))
    return merged_from_single(b, rows, _comparator(compare))


def merged_from_single(b, rows, before):
    """Rows of any length in order: runs of one element are merged two by two, then those of two, and so on. A place of a merged
    run finds by bisection how many elements before it come from the left run."""
    batch, count = b.sizes(rows[0])
    flat = [b.product([batch, count])]
    place = b.iota([batch, count], 1)
    line = b.iota([batch, count], 0)
    begins = b.multiply(line, b.filled(count, line))

    def pass_over(inner, carried):
        width, steps, rows = carried[0], carried[1], list(carried[2:])
        lines = [inner.reshape(row, flat) for row in rows]
        wide, ends = inner.filled(width, place), inner.filled(count, place)
        twice = inner.add(wide, wide)
        left = inner.multiply(inner.divide(place, twice), twice)
        right = inner.minimum(inner.add(left, wide), ends)
        rights = inner.subtract(inner.minimum(inner.add(right, wide), ends), right)
        at = inner.subtract(place, left)
        low = inner.maximum(inner.subtract(at, rights), 0)
        high = inner.minimum(at, inner.subtract(right, left))

        def taken(step, where):
            """Elements by their places in their rows; places behind the end are not used, but read."""
            inside = step.minimum(where, step.subtract(step.filled(count, where), 1))
            return [step.take(each, step.add(begins, step.maximum(inside, 0))) for each in lines]

        def goes_left(step, lefts, rights):
            return step.negated(before(step, taken(step, rights), taken(step, lefts)))

        def halve(step, state):
            turn, low, high = state
            middle = step.divide(step.add(low, high), 2)
            other = step.subtract(step.subtract(step.add(right, at), middle), 1)
            is_open = step.compare("LT", low, high)
            more = goes_left(step, step.add(left, middle), other)
            forward, back = step.both(is_open, more), step.both(is_open, step.negated(more))
            return [step.subtract(turn, step.scalar(1)), step.select(forward, step.add(middle, 1), low), step.select(back, middle, high)]

        _, low, _ = inner.loop([steps, low, high], lambda step, state: step.compare("GT", state[0], 0), halve)
        mine, other = inner.add(left, low), inner.add(right, inner.subtract(at, low))
        has_left = inner.compare("LT", mine, right)
        has_right = inner.compare("LT", inner.subtract(at, low), rights)
        is_left = inner.both(has_left, inner.either(inner.negated(has_right), goes_left(inner, mine, other)))
        chosen = taken(inner, inner.select(is_left, mine, other))
        return [inner.add(width, width), inner.add(steps, inner.scalar(1)), *chosen]

    return b.loop([b.scalar(1), b.scalar(1), *rows], lambda inner, carried: inner.compare("LT", carried[0], b.number(count)), pass_over)[2:]


def _rows_in_order(b, rows, compare, few):
    batch, count = shape_of(rows[0])
    if batch * count * count > COMPARED_MAX:
        keys = keys_of(b, compare, rows)
        if keys and (len(keys) == 1 or not few):
            return _permuted(b, rows, order_of_keys(b, keys, few))
    before = _comparator(compare)
    if few:
        return select_first(b, rows, before, few)
    return sort_counting(b, rows, before) if count <= COUNTED_MAX else sort_merging(b, rows, before)


def order_of_keys(b, keys, few=None):
    """For each place of a sorted row, or for the first `few`, the index of the element that comes there. Keys are those of
    `keys_of`: rows in the order of the last one are put in the order of the one before it, and so on."""
    batch, count = b.sizes(keys[0][0])
    padded, order = sort_networks.power_of_two(count), None
    for key, bits in reversed(keys):
        key = key if order is None else _permuted(b, [key], order)[0]
        numbers = sort_networks.packed(b, key, bits, padded)
        if few:
            numbers = sort_networks.first(b, numbers, sort_networks.power_of_two(few))
        else:
            numbers = sort_networks.in_order(b, numbers)
        place = b.slice(sort_networks.places(b, numbers, padded), [0, 0], [batch, few or count])
        order = place if order is None else _permuted(b, [order], place)[0]
    return order


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
    return _permuted(b, rows, order_counting(b, rows, before, b.sizes(rows[0])))


def order_counting(b, rows, before, shape, few=None):
    """For each place of a sorted row, or for the first `few`, the index of the element that comes there."""
    batch, count = shape
    square = [batch, count, count]
    mine = [b.broadcast(row, square, [0, 1]) for row in rows]
    other = [b.broadcast(row, square, [0, 2]) for row in rows]
    i, j = b.iota(square, 1), b.iota(square, 2)
    # `other` stands before `mine`; of two that are equal, the one with the smaller index.
    first = b.select(b.compare("LT", j, i), b.negated(before(b, mine, other)), before(b, other, mine))
    place = b.reduce("add", b.convert(first, element_of(i)), 0, 2)
    wanted = [batch, few or count, count]
    lands = b.compare("EQ", b.broadcast(place, wanted, [0, 2]), b.iota(wanted, 1))
    which = b.iota(wanted, 2)
    return b.reduce("add", b.select(lands, which, b.like(which, 0)), 0, 2)


def _permuted(b, rows, order):
    (batch, count), (_, taken) = b.sizes(rows[0]), b.sizes(order)
    begins = b.iota([batch, taken], 0)
    flat = b.reshape(b.add(order, b.multiply(begins, b.filled(count, begins))), [b.product([batch, taken])])
    return [b.reshape(b.take(b.reshape(row, [b.product([batch, count])]), flat), [batch, taken]) for row in rows]


def _stable(before):
    """The same order, in which of equal elements the one with the smaller index, the last operand, comes first."""
    def first(b, lefts, rights):
        is_left = b.compare("LT", lefts[-1], rights[-1])
        return b.select(is_left, b.negated(before(b, rights[:-1], lefts[:-1])), before(b, lefts[:-1], rights[:-1]))

    return first


def select_first(b, rows, before, few):
    """The first `few` elements of each row, in order."""
    first = _stable(before)
    batch, count = shape_of(rows[0])
    rows = [*rows, b.iota([batch, count], 1)]
    while count > max(4 * few, BLOCK):
        rows = _narrowed(b, rows, first, few)
        count = shape_of(rows[0])[1]
    return _permuted(b, rows, order_counting(b, rows, first, [batch, count], few))[:-1]


def _narrowed(b, rows, first, few):
    """The blocks of each row whose first elements come first, and what is left behind the last whole block."""
    batch, count = shape_of(rows[0])
    size = 2
    while count // (2 * size) >= max(2 * few, BLOCK if count > BLOCK * BLOCK else BLOCK // 4):
        size *= 2
    blocks = count // size
    whole = [b.slice(row, [0, 0], [batch, blocks * size]) for row in rows]
    heads = _first_of_each(b, [b.reshape(row, [batch * blocks, size]) for row in whole], first)
    order = order_counting(b, [b.reshape(head, [batch, blocks]) for head in heads], first, [batch, blocks], few)
    place = b.multiply(b.broadcast(order, [batch, few, size], [0, 1]), size)
    place = b.reshape(b.add(place, b.iota([batch, few, size], 2)), [batch, few * size])
    taken = _permuted(b, whole, place)
    rest = [b.slice(row, [0, blocks * size], [batch, count]) for row in rows]
    return taken if count == blocks * size else [b.concatenate(pair, 1) for pair in zip(taken, rest)]


def _first_of_each(b, rows, first):
    """Of each row, whose length is a power of two, the element that comes first."""
    while (size := shape_of(rows[0])[1]) > 1:
        count = shape_of(rows[0])[0]
        lefts = [b.slice(row, [0, 0], [count, size // 2]) for row in rows]
        rights = [b.slice(row, [0, size // 2], [count, size]) for row in rows]
        is_left = first(b, lefts, rights)
        rows = [b.select(is_left, *pair) for pair in zip(lefts, rights)]
    return rows


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

    stable = _stable(before)

    def first(inner, lefts, rights):
        """What fills up is last."""
        left, right = lefts[-1], rights[-1]
        fills_left, fills_right = inner.compare("GE", left, count), inner.compare("GE", right, count)
        either = inner.either(fills_left, fills_right)
        return inner.select(either, inner.compare("LT", left, right), stable(inner, lefts, rights))

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
