"""Schur forms of any matrix, by the QR algorithm with implicit shifts on Hessenberg forms.

A sweep takes from the last block that is not yet small its shifts, one of complex matrices and two, which belong together, of real ones.
It begins with the reflection of that block's first rows and columns that the shifts ask for, and chases what that leaves below the diagonal
down and out, with one reflection of two or three rows and columns after another. What has become small below the diagonal is nothing. All
matrices of a batch go together; each has a block of its own, and where none is left the reflections are none.

A real matrix comes to blocks of two by two for pairs of eigenvalues, each with equal numbers on its diagonal.
"""
from jaxlib.mlir import ir

from .build import shape_of
from .factorizations import conjugate, is_complex, magnitude, with_zero
from .hessenberg import hessenberg, matrix_of_hessenberg
from .matrices import along, precision, squares_of, sum_over
from .reflections import reflection

TURNS_BEFORE_OTHER_SHIFTS = 10  # A block that stays that long gets shifts that are not its own, once.
SWEEPS_FOR_EACH = 30  # Two or three are usual.


class Schur:
    """Matrices of one batch dimension: the triangle, or blocks of two in it, and, where they are wanted, the columns that bring it there."""

    def __init__(self, b, a, wants_vectors):
        self.count, self.size, _ = shape_of(a)
        self.rows = 2 if is_complex(a) else 3  # Of a reflection.
        room = self.rows - 2
        packed, taus = hessenberg(b, a)
        row, column = b.iota(shape_of(a), 1), b.iota(shape_of(a), 2)
        form = b.select(b.compare("LE", row, b.add(column, 1)), packed, b.like(packed, 0))
        both = b.pad(form, 0, [0, 0, 0], [0, room, room])
        if wants_vectors:
            both = b.concatenate([both, b.pad(matrix_of_hessenberg(b, packed, taus), 0, [0, 0, 0], [0, 0, room])], 1)
        both, self.is_left = self._swept(b, both) if self.size > 1 else (both, b.full([self.count], 0, ir.IntegerType.get_signless(1)))
        if self.size > 1 and self.rows == 3:
            both = _in_standard_form(b, self, both)
        self.form = b.slice(both, [0, 0, 0], [self.count, self.size, self.size])
        self.vectors = b.slice(both, [0, self.size + room, 0], [self.count, 2 * self.size + room, self.size]) if wants_vectors else None

    def _swept(self, b, both):
        integers = b.full([self.count], 0, ir.IntegerType.get_signless(32))

        def sweep(s, carried):
            turn, both, end, tries, _ = carried
            both, lines, begin, now, found = self._block(s, both)
            is_same = s.both(s.compare("EQ", now, end), s.compare("LT", tries, TURNS_BEFORE_OTHER_SHIFTS))
            tries = s.select(is_same, s.add(tries, 1), s.like(tries, 0))
            other = s.compare("EQ", tries, TURNS_BEFORE_OTHER_SHIFTS)
            first = self._first_vector(s, lines, begin, now, other)

            def step(t, inner):
                k, both = inner
                return [t.add(k, t.scalar(1)), self._reflected(t, both, k, first, begin, now)]
            is_open = s.compare("GT", found, s.scalar(0))
            last = s.select(is_open, s.scalar(self.size - 1), s.scalar(0))
            both = s.loop([s.scalar(0), both], lambda t, inner: t.compare("LT", inner[0], last), step)[1]
            return [s.add(turn, s.scalar(1)), both, now, tries, found]

        def goes_on(s, carried):
            return s.both(s.compare("LT", carried[0], s.scalar(SWEEPS_FOR_EACH * max(self.size, 10))), s.compare("GT", carried[4], s.scalar(0)))

        _, both, end, _, _ = b.loop([b.scalar(0), both, integers, integers, b.scalar(1)], goes_on, sweep)
        return both, b.compare("GT", end, 0)

    # Lines and blocks ---------------------------------------------------------------------------------------------------------

    def lines(self, b, both):
        """The diagonal, and for each of its elements what stands below and beside it, nothing at the end."""
        form = b.slice(both, [0, 0, 0], [self.count, self.size, self.size])
        row, column = b.iota(shape_of(form), 1), b.iota(shape_of(form), 2)

        def chosen(where, dimension):
            return sum_over(b, b.select(where, form, b.like(form, 0)), dimension)

        return (chosen(b.compare("EQ", row, column), -2), chosen(b.compare("EQ", row, b.add(column, 1)), -2),
                chosen(b.compare("EQ", b.add(row, 1), column), -1))

    def _block(self, b, both):
        """The matrices without what has become small; their lines, where each one's last block begins and ends, 0 where none is left, and
        the largest such end. What is no number is small."""
        lines = self.lines(b, both)
        diagonal, below, _ = lines
        sizes = magnitude(b, diagonal)
        bound = b.multiply(b.add(sizes, _next(b, sizes, 0)), precision(sizes))
        is_large = b.compare("GT", magnitude(b, below), b.maximum(bound, b.like(bound, precision(sizes) ** 2)))
        place = b.iota([self.count, self.size], 1)
        matters = is_large
        if self.rows == 3:  # A block of two is done.
            wide = b.convert(is_large, ir.IntegerType.get_signless(32))
            beside = b.add(_next(b, wide, 0), shifted(b, wide))
            matters = b.both(is_large, b.compare("GT", beside, 0))
        none = b.like(place, 0)
        end = b.reduce("maximum", b.select(matters, b.add(place, 1), none), 0, 1)
        is_end = b.both(b.negated(is_large), b.compare("LT", place, along(b, end, shape_of(place), 0)))
        begin = b.reduce("maximum", b.select(is_end, b.add(place, 1), none), 0, 1)
        return self._without_small(b, both, is_large), lines, begin, end, b.reduce("maximum", end, 0, 0)

    def _without_small(self, b, both, is_large):
        rows, columns = shape_of(both)[1:]
        row, column = b.iota([self.count, rows, columns], 1), b.iota([self.count, rows, columns], 2)
        wide = b.convert(is_large, ir.IntegerType.get_signless(32))
        kept = b.broadcast(b.pad(wide, 1, [0, 0], [0, columns - self.size]), [self.count, rows, columns], [0, 2])
        is_below = b.both(b.compare("EQ", row, b.add(column, 1)), b.compare("LT", row, self.size))
        return b.select(b.both(is_below, b.compare("EQ", kept, 0)), b.like(both, 0), both)

    # Shifts ------------------------------------------------------------------------------------------------------------------------

    def _first_vector(self, b, lines, begin, end, other):
        """The first column of what the shifts make of the block; `other`: where the shifts are not those of its last rows."""
        diagonal, below, beside = lines

        def at(line, place):
            where = b.compare("EQ", b.iota(shape_of(line), 1), along(b, place, shape_of(line), 0))
            return sum_over(b, b.select(where, line, b.like(line, 0)), -1)

        before = b.subtract(end, 1)
        last, last_but_one, low, high = at(diagonal, end), at(diagonal, before), at(below, before), at(beside, before)
        first, second, side, next_side = at(diagonal, begin), at(diagonal, b.add(begin, 1)), at(below, begin), at(below, b.add(begin, 1))
        away = b.add(magnitude(b, low), magnitude(b, at(below, b.subtract(end, 2))))
        moved = b.add(last, with_zero(b, b.multiply(away, 0.75), last))
        cross = b.each("multiply", low, high)
        if self.rows == 2:
            shift = b.select(other, moved, _nearest(b, last_but_one, last, cross))
            parts = [b.subtract(first, shift), side]
        else:
            last, last_but_one = b.select(other, moved, last), b.select(other, moved, last_but_one)
            cross = b.select(other, b.multiply(b.multiply(away, away), -0.4375), cross)
            safe = b.select(b.compare("EQ", side, 0), b.like(side, 1), side)
            both = b.multiply(b.subtract(first, last), b.subtract(first, last_but_one))
            parts = [b.add(b.divide(b.subtract(both, cross), safe), at(beside, begin)),
                     b.subtract(b.add(first, second), b.add(last, last_but_one)), next_side]
        return b.concatenate([b.reshape(each, [self.count, 1]) for each in parts], 1)

    # Reflections ---------------------------------------------------------------------------------------------------------------------

    def _reflected(self, b, both, k, first, begin, end):
        """Rows k and those behind it, and the columns of these numbers, by the reflection that leaves one number in column k - 1."""
        count, height, width = shape_of(both)
        none, before = b.scalar(0), b.subtract(k, b.scalar(1))
        rows = b.dynamic_slice(both, [none, k, none], [count, self.rows, width])
        left = b.reshape(b.dynamic_slice(both, [none, k, before], [count, self.rows, 1]), [count, self.rows])
        wide = b.broadcast(k, [count], [])
        is_first, is_inside = b.compare("EQ", wide, begin), b.both(b.compare("GE", wide, begin), b.compare("LT", wide, end))
        place = b.iota([count, self.rows], 1)
        there = b.compare("LE", b.add(place, b.broadcast(k, shape_of(place), [])), along(b, end, shape_of(place), 0))
        counts = b.both(there, along(b, is_inside, shape_of(place), 0))
        x = b.select(along(b, is_first, shape_of(place), 0), first, left)
        v, tau, beta = reflection(b, b.select(counts, x, b.like(x, 0)), b.like(place, 0))

        wide_v = b.broadcast(v, shape_of(rows), [0, 1])
        sums = b.reduce("add", b.each("multiply", conjugate(b, wide_v), rows), 0, 1)
        turned = b.broadcast(b.each("multiply", along(b, conjugate(b, tau), shape_of(v), 0), v), shape_of(rows), [0, 1])
        rows = b.subtract(rows, b.each("multiply", turned, b.broadcast(sums, shape_of(rows), [0, 2])))
        is_left = b.compare("EQ", b.iota(shape_of(rows), 2), b.broadcast(before, shape_of(rows), []))
        is_chased = along(b, b.both(is_inside, b.negated(is_first)), shape_of(rows), 0)
        is_top = b.compare("EQ", b.iota(shape_of(rows), 1), 0)
        what_is_left = b.select(is_top, along(b, with_zero(b, beta, tau), shape_of(rows), 0), b.like(rows, 0))
        both = b.dynamic_update_slice(both, b.select(b.both(is_left, is_chased), what_is_left, rows), [none, k, none])

        columns = b.dynamic_slice(both, [none, none, k], [count, height, self.rows])
        wide_v = b.broadcast(v, shape_of(columns), [0, 2])
        sums = b.reduce("add", b.each("multiply", columns, wide_v), 0, 2)
        turned = b.broadcast(b.each("multiply", along(b, tau, shape_of(v), 0), conjugate(b, v)), shape_of(columns), [0, 2])
        columns = b.subtract(columns, b.each("multiply", b.broadcast(sums, shape_of(columns), [0, 1]), turned))
        return b.dynamic_update_slice(both, columns, [none, none, k])


def _nearest(b, first, last, cross):
    """Of the eigenvalues of two by two complex numbers with this diagonal the one nearest to the last of them."""
    half = b.multiply(b.subtract(first, last), 0.5)
    root = b.each("sqrt", b.add(b.each("multiply", half, half), cross))
    sums = [b.add(half, root), b.subtract(half, root)]
    largest = b.select(b.compare("GE", *(squares_of(b, each) for each in sums)), *sums)
    is_nothing = b.compare("EQ", squares_of(b, largest), 0)
    quotient = b.each("divide", cross, b.select(is_nothing, b.like(largest, 1), largest))
    return b.subtract(last, b.select(is_nothing, b.like(quotient, 0), quotient))


def _next(b, line, last):
    """For each element the one behind it."""
    count, size = shape_of(line)
    return b.pad(b.slice(line, [0, 1], [count, size]), last, [0, 0], [0, 1])


def shifted(b, line):
    count, size = shape_of(line)
    return b.pad(b.slice(line, [0, 0], [count, size - 1]), 0, [0, 1], [0, 0])


# Blocks of two ----------------------------------------------------------------------------------------------------------------


def pairs_turned(b, made, both, rounds, turn):
    """For each k the rows k and k + 1, and these columns, by what `turn` makes of the block: a matrix [[p, q], [-q*, p*]] as p and q,
    and the block as it shall be, given what it has become."""
    count, height, width = shape_of(both)
    none, last = b.scalar(0), b.scalar(made.size - 1)

    def step(s, carried):
        i, both = carried
        k = s.select(s.compare("GE", i, last), s.subtract(i, last), i)
        p, q, finish = turn(s, _block_of(s, both, k))
        rows = s.dynamic_slice(both, [none, k, none], [count, 2, width])
        upper, lower = (s.slice(rows, [0, at, 0], [count, at + 1, width]) for at in (0, 1))
        turned = [_sum_of(s, p, upper, q, lower), _sum_of(s, s.each("negate", conjugate(s, q)), upper, conjugate(s, p), lower)]
        both = s.dynamic_update_slice(both, s.concatenate(turned, 1), [none, k, none])
        columns = s.dynamic_slice(both, [none, none, k], [count, height, 2])
        left, right = (s.slice(columns, [0, 0, at], [count, height, at + 1]) for at in (0, 1))
        turned = [_sum_of(s, conjugate(s, p), left, conjugate(s, q), right), _sum_of(s, s.each("negate", q), left, p, right)]
        both = s.dynamic_update_slice(both, s.concatenate(turned, 2), [none, none, k])
        return [s.add(i, s.scalar(1)), s.dynamic_update_slice(both, _two_by_two(s, *finish(_block_of(s, both, k))), [none, k, k])]

    return b.loop([b.scalar(0), both], lambda s, carried: s.compare("LT", carried[0], b.scalar(rounds * (made.size - 1))), step)[1]


def _sum_of(b, factor, a, other_factor, other):
    wide, other_wide = (along(b, each, shape_of(a), 0) for each in (factor, other_factor))
    return b.add(b.each("multiply", wide, a), b.each("multiply", other_wide, other))


def _block_of(b, both, k):
    """Its four numbers, row after row."""
    count = shape_of(both)[0]
    block = b.dynamic_slice(both, [b.scalar(0), k, k], [count, 2, 2])
    return [b.reshape(b.slice(block, [0, i, j], [count, i + 1, j + 1]), [count]) for i in range(2) for j in range(2)]


def _two_by_two(b, *numbers):
    count = shape_of(numbers[0])[0]
    return b.reshape(b.concatenate([b.reshape(each, [count, 1]) for each in numbers], 1), [count, 2, 2])


def _in_standard_form(b, made, both):
    """Blocks with real eigenvalues become triangles, others get equal numbers on the diagonal. Twice, since rounding may say the other
    thing of a block that is nearly a triangle."""
    return pairs_turned(b, made, both, 2, _turned_to_standard)


def _turned_to_standard(b, block):
    first, high, low, last = block
    is_block = b.compare("NE", low, 0)
    half = b.multiply(b.subtract(first, last), 0.5)
    largest = b.maximum(b.maximum(b.each("abs", half), b.each("abs", high)), b.each("abs", low))
    scale = b.select(b.compare("GT", largest, 0), largest, b.like(largest, 1))
    half, wide, narrow = (b.divide(each, scale) for each in (half, high, low))
    square = b.add(b.multiply(half, half), b.multiply(wide, narrow))
    is_real = b.compare("GE", square, 0)
    # Of real ones: the eigenvector of the eigenvalue that is further away from the last number.
    root = b.each("sqrt", b.maximum(square, b.like(square, 0)))
    away = b.select(b.compare("GE", half, 0), b.add(half, root), b.subtract(half, root))
    real_cosine, real_sine = unit(b, away, narrow)
    # Of others: the turn that makes the diagonal's numbers equal.
    total, difference = b.add(wide, narrow), b.add(half, half)
    length = _length(b, total, difference)
    is_there = b.compare("EQ", length, 0)
    length = b.select(is_there, b.like(length, 1), length)
    cosine = b.each("sqrt", b.multiply(b.add(b.divide(b.each("abs", total), length), 1), 0.5))
    sine = b.divide(b.each("negate", difference), b.multiply(b.add(length, length), cosine))
    sine = b.select(b.compare("LT", total, 0), b.each("negate", sine), sine)
    cosine = b.select(is_real, real_cosine, b.select(is_there, b.like(cosine, 1), cosine))
    sine = b.select(is_real, real_sine, b.select(is_there, b.like(sine, 0), sine))
    cosine, sine = b.select(is_block, cosine, b.like(cosine, 1)), b.select(is_block, sine, b.like(sine, 0))

    def finish(now):
        first, high, low, last = now
        mean = b.multiply(b.add(first, last), 0.5)
        is_pair = b.both(is_block, b.negated(is_real))
        return b.select(is_pair, mean, first), high, b.select(is_pair, low, b.like(low, 0)), b.select(is_pair, mean, last)

    return cosine, sine, finish


def unit(b, x, y):
    """In the direction of the two numbers, of which one is not 0."""
    length = _length(b, x, y)
    is_nothing = b.compare("EQ", length, 0)
    length = b.select(is_nothing, b.like(length, 1), length)
    return b.select(is_nothing, b.like(x, 1), b.divide(x, length)), b.divide(y, length)


def _length(b, x, y):
    return b.each("sqrt", b.add(b.multiply(x, x), b.multiply(y, y)))
