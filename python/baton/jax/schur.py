"""Schur forms of any matrix, its eigenvalues and eigenvectors, by the QR algorithm with implicit shifts on Hessenberg forms.

A sweep takes from the last block that is not yet small its shifts, one of complex matrices and two, which belong together, of real ones.
It begins with the reflection of that block's first rows and columns that the shifts ask for, and chases what that leaves below the diagonal
down and out, with one reflection of two or three rows and columns after another. What has become small below the diagonal is nothing. All
matrices of a batch go together; each has a block of its own, and where none is left the reflections are none.

A real matrix comes to blocks of two by two for pairs of eigenvalues. For eigenvectors these become triangles, of complex numbers; then
vectors of the triangle are found from the last row up, all at once.
"""
from jaxlib.mlir import ir

from .blocked import product
from .build import Builder, element_of, has_unknown_sizes, shape_of, tensor_type
from .factorizations import adjoint, conjugate, divided, is_complex, magnitude, part, real, with_zero
from .hessenberg import hessenberg, matrix_of_hessenberg
from .matrices import along, columns_of, is_diagonal, precision, rows_of, scaled, squares_of, sum_over
from .reflections import reflection
from .sorting import replace

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
            beside = b.add(_next(b, wide, 0), _before(b, wide))
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


def _before(b, line):
    count, size = shape_of(line)
    return b.pad(b.slice(line, [0, 0], [count, size - 1]), 0, [0, 1], [0, 0])


# Blocks of two ----------------------------------------------------------------------------------------------------------------


def _pairs_turned(b, made, both, rounds, turn):
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
    return _pairs_turned(b, made, both, 2, _turned_to_standard)


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
    real_cosine, real_sine = _unit(b, away, narrow)
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


def _unit(b, x, y):
    """In the direction of the two numbers, of which one is not 0."""
    length = _length(b, x, y)
    is_nothing = b.compare("EQ", length, 0)
    length = b.select(is_nothing, b.like(length, 1), length)
    return b.select(is_nothing, b.like(x, 1), b.divide(x, length)), b.divide(y, length)


def _length(b, x, y):
    return b.each("sqrt", b.add(b.multiply(x, x), b.multiply(y, y)))


def _turned_to_triangle(b, block):
    """A block with a pair of eigenvalues, in standard form: the one above the real line comes first."""
    _, high, low, _ = block
    is_block = b.compare("NE", real(b, low), 0)
    away = b.each("sqrt", b.each("abs", b.multiply(real(b, high), real(b, low))))
    cosine, sine = _unit(b, away, real(b, low))
    cosine, sine = b.select(is_block, cosine, b.like(cosine, 1)), b.select(is_block, sine, b.like(sine, 0))
    # p is the conjugate of i * cosine: the eigenvector is (i * cosine, sine).
    none = b.like(cosine, 0)
    turned, straight = b.select(is_block, b.each("negate", cosine), none), b.select(is_block, none, cosine)
    p = b.value("stablehlo.complex", [straight, turned], low.type)

    def finish(now):
        return now[0], now[1], b.like(now[2], 0), now[3]

    return p, with_zero(b, sine, low), finish


# Eigenvalues and eigenvectors ------------------------------------------------------------------------------------------------------


def eigenvalues(b, made):
    """Of a form: complex ones, or real and imaginary parts where the form is real."""
    diagonal, below, beside = made.lines(b, made.form)
    if is_complex(made.form):
        return [diagonal]
    # Of [[x, b], [c, x]] they are x +- sqrt(b c); the roots of b and of c do not become too small for a number.
    size = b.multiply(b.each("sqrt", b.each("abs", below)), b.each("sqrt", b.each("abs", beside)))
    size = b.select(b.compare("NE", below, 0), size, b.like(size, 0))
    return [diagonal, b.subtract(size, _before(b, size) if made.size > 1 else b.like(size, 0))]


def _complex_form(b, made, values):
    """The triangle with `values` on its diagonal, and the matrix of columns."""
    form, vectors = made.form, made.vectors
    if not is_complex(form):
        both = b.concatenate([form, vectors], 1)
        both = b.value("stablehlo.complex", [both, b.like(both, 0)], tensor_type(shape_of(both), ir.ComplexType.get(element_of(both))))
        both = _pairs_turned(b, made, both, 1, _turned_to_triangle) if made.size > 1 else both
        form, vectors = rows_of(b, both, 0, made.size), rows_of(b, both, made.size, 2 * made.size)
    row, column = b.iota(shape_of(form), 1), b.iota(shape_of(form), 2)
    form = b.select(b.compare("EQ", row, column), along(b, values, shape_of(form), 1), form)
    return b.select(b.compare("LE", row, column), form, b.like(form, 0)), vectors


def _vectors_of_triangle(b, form, values):
    """Columns x with form x = value x, each with its largest number about one: from the last row up, all columns at once. Where two
    eigenvalues are nearly equal their difference is what rounding makes of it."""
    count, size, _ = shape_of(form)
    rounding = precision(form) if not is_complex(form) else precision(real(b, form))
    tiny = 1e-290 if rounding < 1e-10 else 1e-30
    least = b.maximum(b.multiply(magnitude(b, values), rounding), b.like(magnitude(b, values), tiny))
    place = b.iota([count, size], 1)

    def step(s, carried):
        k, x = carried
        none = s.scalar(0)
        row = s.dynamic_slice(form, [none, k, none], [count, 1, size])
        left = s.reshape(product(s, row, x), [count, size])
        where = s.broadcast(k, shape_of(place), [])
        mine = sum_over(s, s.select(s.compare("EQ", place, where), values, s.like(values, 0)), -1)
        away = s.subtract(along(s, mine, shape_of(values), 0), values)
        away = s.select(s.compare("LT", magnitude(s, away), least), with_zero(s, least, away), away)
        found = s.each("negate", s.each("divide", left, away))
        is_one = s.compare("EQ", place, where)
        found = s.select(s.compare("GT", place, where), found, s.select(is_one, s.like(found, 1), s.like(found, 0)))
        size_now = s.maximum(magnitude(s, found), s.like(least, 1))
        x = s.dynamic_update_slice(x, s.reshape(found, [count, 1, size]), [none, k, none])
        return [s.subtract(k, s.scalar(1)), divided(s, x, along(s, size_now, shape_of(x), 1))]

    start = [b.scalar(size - 1), b.like(form, 0)]
    return b.loop(start, lambda s, carried: s.compare("GE", carried[0], s.scalar(0)), step)[1]


def _turned_round(b, a):
    """Rows and columns from the last to the first."""
    return b.reverse(a, [1, 2])


def right_vectors(b, form, vectors, values):
    return _normal(b, product(b, vectors, _vectors_of_triangle(b, form, values)))


def left_vectors(b, form, vectors, values):
    """u with u* a = value u*: of the triangle's adjoint, which is a triangle from the other end."""
    found = _vectors_of_triangle(b, _turned_round(b, adjoint(b, form)), b.reverse(conjugate(b, values), [1]))
    return _normal(b, product(b, vectors, _turned_round(b, found)))


def _normal(b, vectors):
    """Columns of length one whose largest number is real."""
    shape = shape_of(vectors)
    sizes = squares_of(b, vectors)
    vectors = divided(b, vectors, _lengths(b, vectors))
    largest = along(b, b.reduce("maximum", sizes, 0, 1), shape, 1)
    row = b.iota(shape, 1)
    place = b.reduce("minimum", b.select(b.compare("EQ", sizes, largest), row, b.like(row, shape[1])), shape[1], 1)
    chosen = sum_over(b, b.select(b.compare("EQ", row, along(b, place, shape, 1)), vectors, b.like(vectors, 0)), -2)
    size = b.each("sqrt", squares_of(b, chosen))
    phase = divided(b, conjugate(b, chosen), b.select(b.compare("GT", size, 0), size, b.like(size, 1)))
    return b.each("multiply", vectors, along(b, phase, shape, 1))


def _lengths(b, vectors):
    """Of each column, in each of its places."""
    return along(b, b.each("sqrt", sum_over(b, squares_of(b, vectors), -2)), shape_of(vectors), 1)


def _of_real_matrix(b, vectors, imaginary):
    """Those of real eigenvalues are real, and the second one of a pair is the first one's conjugate. What is not real in the former is
    what rounding made of it, which may be much where other eigenvalues are as near as rounding."""
    count, size, _ = shape_of(vectors)
    if size > 1:
        before = b.pad(columns_of(b, vectors, 0, size - 1), 0, [0, 0, 1], [0, 0, 0])
        is_second = along(b, b.compare("LT", imaginary, 0), shape_of(vectors), 1)
        vectors = b.select(is_second, conjugate(b, before), vectors)
    is_real = along(b, b.compare("EQ", imaginary, 0), shape_of(vectors), 1)
    vectors = b.select(is_real, with_zero(b, real(b, vectors), vectors), vectors)
    return divided(b, vectors, _lengths(b, vectors))


# JAX's calls ------------------------------------------------------------------------------------------------------------------------


def _made(b, op, what, wants_vectors):
    """The matrix as one of a batch of one dimension, divided by its scale; that, and its form."""
    a = op.operands[0]
    if has_unknown_sizes(a):
        raise NotImplementedError(f"{what} of matrices whose sizes are not known: not lowered; give them sizes")
    shape = shape_of(a)
    count = 1
    for size in shape[:-2]:
        count *= size
    a, scale = scaled(b, b.reshape(a, [count, *shape[-2:]]))
    return a, scale, Schur(b, a, wants_vectors)


def _information(b, a, made):
    """Of LAPACK: not 0 where there is no result, which JAX makes NaNs of."""
    total = sum_over(b, sum_over(b, magnitude(b, a), -1), -1)
    return b.convert(b.either(made.is_left, b.compare("NE", b.subtract(total, total), 0)), ir.IntegerType.get_signless(32))


def _times(b, values, scale):
    wide = along(b, scale, shape_of(values), 0)
    if not is_complex(values):
        return b.multiply(values, wide)
    return b.value("stablehlo.complex", [b.multiply(part(b, name, values), wide) for name in ("real", "imag")], values.type)


def _replaced(b, op, values):
    replace(op, [b.convert(b.reshape(value, shape_of(result)), element_of(result)) for value, result in zip(values, op.results)])


def _nothing_to_do(b, op):
    """Of matrices without elements."""
    if 0 not in shape_of(op.operands[0]):
        return False
    replace(op, [b.full(shape_of(each), 0, element_of(each)) for each in op.results])
    return True


def lower_gees(op, config):
    b = Builder.before(op)
    if _nothing_to_do(b, op):
        return
    a, scale, made = _made(b, op, "the Schur form", ir.IntegerAttr(config["mode"]).value == ord("V"))
    information = _information(b, a, made)
    values = [_times(b, each, scale) for each in eigenvalues(b, made)]
    selected = b.like(information, 0)
    vectors = b.like(made.form, 0) if made.vectors is None else made.vectors
    _replaced(b, op, [_times(b, made.form, scale), vectors, *values, selected, information])


def lower_geev(op, config):
    b = Builder.before(op)
    if _nothing_to_do(b, op):
        return
    asked = [ir.IntegerAttr(config[name]).value == ord("V") for name in ("compute_left", "compute_right")]
    a, scale, made = _made(b, op, "eigenvalues", any(asked))
    values = eigenvalues(b, made)
    complex_type = ir.ComplexType.get(element_of(scale))
    whole = values[0] if len(values) == 1 else b.value("stablehlo.complex", values, tensor_type(shape_of(values[0]), complex_type))
    form, columns = _complex_form(b, made, whole) if any(asked) else (None, None)
    vectors = []
    for is_asked, find in zip(asked, (left_vectors, right_vectors)):
        found = find(b, form, columns, whole) if is_asked else b.full(shape_of(a), 0, complex_type)
        vectors.append(_of_real_matrix(b, found, values[1]) if is_asked and len(values) == 2 else found)
    _replaced(b, op, [*(_times(b, each, scale) for each in values), *vectors, _information(b, a, made)])


CALLS = {f"lapack_{kind}{name}_ffi": lower for kind in "sdcz" for name, lower in (("geev", lower_geev), ("gees", lower_gees))}
