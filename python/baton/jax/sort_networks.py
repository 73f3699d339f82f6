"""Rows of integers in order, by networks of comparisons: each step is one operation, element by element, over all rows.

Numbers of a row are different from each other: a key and, below it, the element's place in its row, so the order is stable and
the places say where all that is sorted with the key comes from. A bitonic network has no branches and reads what lies apart by
one distance for all, so it is work for vectors; two steps of it are one operation, which halves what is read and written.

A row of n numbers is `lanes` runs, and memory holds the first numbers of all runs of all rows, then the second ones: [n / lanes,
lanes, rows]. Steps within runs, nearly all, then compare what is a multiple of a vector apart. The number of rows may be unknown.
"""
from jaxlib.mlir import ir

from .build import element_of, is_value, shape_of
from .on_cores import call_either, module_of

VECTOR = 16  # Neighbours that one step treats alike, at least, where there are as many.
WHOLE_MAX = 256  # Numbers of a row that are not narrowed before the first ones are looked for.
SORTED_MAX = 4096  # Numbers of a row that a block of threads sorts for the first ones.


def packed(b, key, bits, padded):
    """[rows, padded]: each key with its place, in the fewest bits; what fills up comes last."""
    rows, count = b.sizes(key)
    place_bits = (padded - 1).bit_length()
    width = 32 if bits + place_bits <= 32 else 64
    kind = ir.IntegerType.get_signless(width)
    number = b.convert(key, kind)
    moved = b.each("or", b.each("shift_left", number, b.like(number, place_bits)), b.iota([rows, count], 1, kind))
    return b.pad(moved, (1 << (width - 1)) - 1, [0, 0], [0, padded - count])


def places(b, numbers, padded):
    """The places below the keys."""
    return b.convert(b.each("and", numbers, b.like(numbers, padded - 1)), ir.IntegerType.get_signless(32))


def power_of_two(count):
    return 1 << max(0, (count - 1).bit_length())


def in_order(b, numbers):
    """Each row of [rows, n], n a power of two, in order. A function that says so: blocks of threads sort in a way of their own
    (compiler-lite/codegen/sort.hpp)."""
    if is_value(b.sizes(numbers)[0]):
        return _in_order(b, numbers)
    (sorted_,) = call_either(b, module_of(b), "sort", [numbers], [numbers.type], lambda inner, rows: [_in_order(inner, *rows)], says={"baton.sorts_rows": ir.UnitAttr.get()})
    return sorted_


def _in_order(b, numbers):
    rows, count = b.sizes(numbers)
    a, shape = _laid_out(b, numbers)
    size = 1
    while size < shape[0]:
        a, size = _merge(b, a, shape, size), 2 * size
    size = 1
    while size < shape[1]:
        a, size = _merge_lanes(b, a, shape, size), 2 * size
    return b.reshape(b.transpose(b.reshape(a, shape), [2, 1, 0]), [rows, count])


def first(b, numbers, few):
    """The first `few`, a power of two below n, of each row of [rows, n], in order. Numbers stand at their places, or at those modulo n;
    they no longer do when a row was narrowed, so that is done once."""
    if shape_of(numbers)[1] > max(WHOLE_MAX, 16 * few):
        numbers = _narrowed(b, numbers, few)
    return _first_of_runs(b, numbers, few)


def _first_of_runs(b, numbers, few):
    """Blocks of threads sort all of a row in less time than they take to leave some of it out."""
    rows, count = b.sizes(numbers)
    if is_value(rows) or count > SORTED_MAX:
        return _merged_first(b, numbers, few)
    (made,) = call_either(b, module_of(b), "first", [numbers], [ir.RankedTensorType.get([rows, few], element_of(numbers))],
                          lambda inner, given: [_merged_first(inner, *given, few)],
                          on_blocks=lambda inner, given: [inner.slice(in_order(inner, *given), [0, 0], [rows, few])])
    return made


def _merged_first(b, numbers, few):
    """Of two runs in order one half cannot be among the first."""
    rows, _ = b.sizes(numbers)
    a, shape = _laid_out(b, numbers, few)
    size = 1
    while size < few:
        a, size = _merge(b, a, shape, size), 2 * size
    while shape[0] > few:
        a = b.reshape(a, [shape[0] // (2 * few), 2, few, b.product(shape[1:])])
        a, shape = _lesser(b, a, 1, 2), [shape[0] // 2, *shape[1:]]
        a = _steps(b, a, shape, few // 2)
    while shape[1] > 1:
        a = b.reshape(a, [few, shape[1] // 2, 2, shape[2]])
        a, shape = _lesser(b, a, 2, 0), [few, shape[1] // 2, shape[2]]
        a = _steps(b, a, shape, few // 2)
    return b.transpose(b.reshape(a, [few, rows]), [1, 0])


def _narrowed(b, numbers, few):
    """Of each row the blocks whose least numbers come first; a block is what lies a number of blocks apart."""
    rows, count = b.sizes(numbers)
    size = 2
    while 2 * size * 2 * size * few <= count:
        size *= 2
    blocks = count // size
    least = b.reduce("minimum", b.reshape(numbers, [rows, size, blocks]), (1 << (element_of(numbers).width - 1)) - 1, 1)
    which = b.each("and", places(b, first(b, least, few), count), b.full([rows, few], blocks - 1, ir.IntegerType.get_signless(32)))
    wanted = [rows, size, few]
    at = b.add(b.broadcast(which, wanted, [0, 2]), b.multiply(b.iota(wanted, 1), blocks))
    at = b.add(at, b.multiply(b.iota(wanted, 0), count))
    return b.reshape(b.take(b.reshape(numbers, [b.product([rows, count])]), b.reshape(at, [b.product([rows, size, few])])), [rows, size * few])


def _laid_out(b, numbers, shortest=2):
    rows, count = b.sizes(numbers)
    lanes = 1
    while lanes * (1 if is_value(rows) else rows) < VECTOR and count // (2 * lanes) >= shortest:
        lanes *= 2
    shape = [count // lanes, lanes, rows]
    return b.transpose(b.reshape(numbers, shape[::-1]), [2, 1, 0]), shape


def _lesser(b, a, pair, turned):
    """Of the two along `pair` the lesser ones; the second is read backwards along `turned`."""
    shape = b.sizes(a)
    starts, limits = [0] * len(shape), list(shape)
    limits[pair] = 1
    left = b.slice(a, starts, limits)
    starts[pair], limits[pair] = 1, 2
    return b.minimum(left, b.reverse(b.slice(a, starts, limits), [turned]))


def _merge(b, a, shape, size):
    """Two and two runs of `size` numbers in order become one."""
    length, lanes, rows = shape
    a = _exchange(b, b.reshape(a, [length // (2 * size), 2, size, b.product([lanes, rows])]), 1, [1, 2])
    return _steps(b, a, shape, size // 2)


def _merge_lanes(b, a, shape, size):
    """The same with runs of `size` whole lanes."""
    length, lanes, rows = shape
    a = _exchange(b, b.reshape(a, [length, lanes // (2 * size), 2, size, rows]), 2, [0, 2, 3])
    while size > 1:
        size //= 2
        a = _exchange(b, b.reshape(a, [length, lanes // (2 * size), 2, b.product([size, rows])]), 2, [2])
    return _steps(b, a, shape, length // 2)


def _steps(b, a, shape, distance):
    """Steps of `distance`, half of it, down to 1."""
    length, lanes, rows = shape
    while distance >= 2:
        a = _exchange_twice(b, b.reshape(a, [length // (2 * distance), 2, 2, b.product([distance // 2 * lanes, rows])]))
        distance //= 4
    if distance:
        a = _exchange(b, b.reshape(a, [length // 2, 2, b.product([lanes, rows])]), 1, [1])
    return a


def _exchange(b, a, pair, turned):
    """Each number beside that with all `turned` dimensions backwards: the lesser one goes to the front along `pair`."""
    return _kept(b, a, b.reverse(a, turned), b.compare("EQ", b.iota(b.sizes(a), pair), 0))


def _exchange_twice(b, a):
    """A step along the second dimension and one along the third."""
    front, front_inside = (b.compare("EQ", b.iota(b.sizes(a), dimension), 0) for dimension in (1, 2))
    mine = _kept(b, a, b.reverse(a, [1]), front)
    other = _kept(b, b.reverse(a, [2]), b.reverse(a, [1, 2]), front)
    return _kept(b, mine, other, front_inside)


def _kept(b, mine, other, is_front):
    return b.select(is_front, b.minimum(mine, other), b.maximum(mine, other))
