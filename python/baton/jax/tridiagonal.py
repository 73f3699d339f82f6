"""Systems of tridiagonal matrices, which JAX asks LAPACK for (gtsv): elimination with partial pivoting, all batches together.

Going down, the current row (head, right and its side) is compared with the one below it: the one with the larger head is kept, and the
other one loses its head by it. An exchange fills in a third element. Going up, each unknown is found from the two below it.
"""
from .build import Builder, element_of, has_unknown_sizes
from .factorizations import magnitude
from .sorting import replace


def lower_gtsv(op, _):
    b = Builder.before(op)
    lower, middle, upper, sides = list(op.operands)[:4]  # Shapes of the results stand behind, where sizes are unknown.
    batch, (count, columns) = b.sizes(sides)[:-2], b.sizes(sides)[-2:]
    batches = b.product(batch)
    diagonals = [b.transpose(b.reshape(each, [batches, count]), [1, 0]) for each in (lower, middle, upper)]
    sides = b.transpose(b.reshape(sides, [batches, count, columns]), [1, 0, 2])
    heads, *rows = _down(b, diagonals, sides, count)
    found = _up(b, heads, *rows, count)
    solved = b.reshape(b.transpose(found, [1, 0, 2]), [*batch, count, columns])
    # Each of the diagonals is LAPACK's to overwrite, and nobody reads it afterwards.
    replace(op, [lower, middle, upper, solved, _singular(b, heads, batch, element_of(op.results[4]))])


def _singular(b, heads, batch, element):
    """Not 0 where a head is."""
    zero = b.convert(b.compare("EQ", heads, 0), element)
    return b.reshape(b.reduce("maximum", zero, 0, 0), batch)


def _row(b, a, k):
    if has_unknown_sizes(a):
        return b.reshape(b.take(a, b.reshape(k, [1])), b.sizes(a)[1:])
    shape = b.sizes(a)
    return b.reshape(b.dynamic_slice(a, [k, *[b.scalar(0)] * (len(shape) - 1)], [1, *shape[1:]]), shape[1:])


def _with_row(b, a, row, k):
    sizes = b.sizes(a)
    return b.dynamic_update_slice(a, b.reshape(row, [1, *sizes[1:]]), [k, *[b.scalar(0)] * (len(sizes) - 1)])


def _wide(b, value, like):
    """A number of each batch for each of its columns."""
    return b.broadcast(value, b.sizes(like), [0])


def _down(b, diagonals, sides, count):
    """The rows of the upper triangle: heads, what stands right of them, what an exchange fills in, and their sides."""
    lower, middle, upper = diagonals
    first = b.scalar(0)

    def step(s, carried):
        k, (head, right, side), rows = carried[0], carried[1:4], carried[4:]
        below = s.add(k, s.scalar(1))
        next_head, next_middle, next_right = (_row(s, each, below) for each in (lower, middle, upper))
        next_side = _row(s, sides, below)
        stays = s.compare("GE", magnitude(s, head), magnitude(s, next_head))
        pivot = s.select(stays, head, next_head)
        factor = s.divide(s.select(stays, next_head, head), s.select(s.compare("EQ", pivot, 0), s.like(pivot, 1), pivot))

        wide_stays, wide_factor = _wide(s, stays, side), _wide(s, factor, side)
        none = s.like(right, 0)
        kept = [pivot, s.select(stays, right, next_middle), s.select(stays, none, next_right), s.select(wide_stays, side, next_side)]
        current = [_without_head(s, stays, factor, right, next_middle), _without_head(s, stays, factor, none, next_right),
                   _without_head(s, wide_stays, wide_factor, side, next_side)]
        return [below, *current, *(_with_row(s, each, row, k) for each, row in zip(rows, kept))]

    begin = [_row(b, each, first) for each in (middle, upper, sides)]
    rows = [b.like(middle, 0), b.like(middle, 0), b.like(middle, 0), sides]
    last = b.difference(count, 1)
    _, head, right, side, *rows = b.loop([first, *begin, *rows], lambda s, carried: s.compare("LT", carried[0], s.number(last)), step)
    del right  # Right of the last row stands nothing.
    last = b.number(last)
    return [_with_row(b, rows[0], head, last), rows[1], rows[2], _with_row(b, rows[3], side, last)]


def _without_head(s, stays, factor, current, below):
    """The element of the row that is not kept, less so many of the kept one's that its head is 0."""
    kept, other = s.select(stays, current, below), s.select(stays, below, current)
    return s.subtract(other, s.multiply(factor, kept))


def _up(b, heads, rights, fills, sides, count):
    def step(s, carried):
        k, next_one, one_behind, found = carried
        terms = [s.multiply(_wide(s, _row(s, each, k), value), value) for each, value in ((rights, next_one), (fills, one_behind))]
        left = s.subtract(s.subtract(_row(s, sides, k), terms[0]), terms[1])
        value = s.divide(left, _wide(s, _row(s, heads, k), left))
        return [s.subtract(k, s.scalar(1)), value, next_one, _with_row(s, found, value, k)]

    last = b.number(b.difference(count, 1))
    nothing = b.like(_row(b, sides, last), 0)
    return b.loop([last, nothing, nothing, sides], lambda s, carried: s.compare("GE", carried[0], 0), step)[3]


CALLS = {f"lapack_{kind}gtsv_ffi": lower_gtsv for kind in "sdcz"}
