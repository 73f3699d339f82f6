"""What the kernels of eigenvalues_on_cores.py and singular_values_on_cores.py share: how large numbers are, reflections of rows, rotations, the
order of values.
"""
import numpy as np

from .rows_on_cores import VECTOR_BYTES, Rows

ROOM_BYTES = 160 << 10  # Of the 256 KiB that a kernel may ask for.
LINES = 8  # Diagonals and the like, which stand beside matrices.
SWEEPS_MAX = 30  # For each eigenvalue, on average: LAPACK's number. Two are many.


def is_small(element, *matrices):
    """Whether such matrices, each so many rows of so many numbers, are memory that a kernel has beside its results."""
    t = Rows(element)
    return sum(rows * t.padded(width) for rows, width in matrices) * VECTOR_BYTES // t.lanes <= ROOM_BYTES


def is_for_cores(element, n):
    """Whether a kernel has memory for its diagonals of n numbers."""
    return is_small(element, (LINES, n))


class Ranges:
    """Where numbers of an element type have all their digits."""

    def __init__(self, element):
        wide = element == "f64"
        self.eps = float(np.finfo(np.float64 if wide else np.float32).eps)
        self.exponent = 0x7FF << 52 if wide else 0xFF << 23
        self.integer = "i64" if wide else "i32"
        # What a matrix's largest number becomes like, which has a square and leaves room for numbers that are small beside it; a sum of
        # squares that is larger than the square of what is small has all its digits.
        self.large, self.small = (2.0 ** 400, 2.0 ** -430) if wide else (2.0 ** 48, 2.0 ** -50)
        self.least, self.lift = (2.0 ** -1000, 2.0 ** 900) if wide else (2.0 ** -120, 2.0 ** 100)


def scaled(t, a, begin, end, width):
    """Rows whose largest number is like `large`, and what numbers like 1 are of the given ones: not a number where one of them isn't,
    or is infinite, and all are zero."""
    ranges = Ranges(t.element)

    def largest(i, most):
        def step(j, most):
            return [(t.each("arith.maximumf", t.sizes(t.part(a, i, j)), most[0]), t.vector)]
        return t.vectors(t.none, width, [most], step)
    most = t.most(t.loop(begin, end, [(t.zeros, t.vector)], largest)[0][0])
    is_number = t.compare("oeq", t.minus(most, most), t.zero)
    bits = t.value(f"arith.bitcast {most} : {t.element} to {ranges.integer}")
    mask = t.value(f"arith.constant {ranges.exponent} : {ranges.integer}")
    power = t.value(f"arith.bitcast {t.value(f'arith.andi {bits}, {mask} : {ranges.integer}')} : {ranges.integer} to {t.element}")
    power = t.choose(t.compare("ogt", most, t.real(ranges.least)), power, t.real(1 / ranges.lift))
    power = t.choose(is_number, power, t.one)

    def divide(i, a):
        def step(j, a):
            divided = t.each("arith.mulf", t.each("arith.divf", t.part(a, i, j), t.wide(power)), t.wide(t.real(ranges.large)))
            return [t.put_part(a, t.value(f"arith.select {is_number}, {divided}, {t.zeros} : {t.vector}"), i, j)]
        return t.vectors(t.none, width, [a], step)
    a = t.loop(begin, end, [a], divide)[0]
    return a, t.choose(is_number, power, t.minus(most, most))


def reflection(t, x, at, width):
    """Of the row x, a tensor with what stands before its last index, whose numbers before `at` are zero: the vector with a one at `at` that
    is reflected in, in its place; tau; what the row's number at `at` becomes, while those behind it vanish; and what these were multiplied by."""
    tensor, place = x[0], x[1:]
    ranges = Ranges(t.element)

    head = t.at(tensor, *place, at)
    tensor = t.put(tensor, t.zero, *place, at)

    def larger(j, most):
        return [(t.each("arith.maximumf", t.sizes(t.part(tensor, *place, j)), most[0]), t.vector)]
    behind = t.most(t.vectors(at, width, [(t.zeros, t.vector)], larger)[0][0])
    most = t.float("arith.maximumf", behind, t.size(head))
    # Numbers that are small have no squares. Those that are small beside the head need none.
    is_some = t.compare("ogt", most, t.real(ranges.least))
    scale = t.choose(t.compare("olt", most, t.real(ranges.eps)), most, t.one)
    scale = t.over(t.choose(is_some, t.one, t.zero), t.choose(is_some, scale, t.one))
    nothing = t.compare("oeq", t.times(behind, scale), t.zero)
    head, by = t.times(head, scale), t.wide(scale)

    def square(j, tensor, sums):
        value = t.each("arith.mulf", t.part(tensor, *place, j), by)
        return [t.put_part(tensor, value, *place, j), (t.joined(value, value, sums[0], t.vector), t.vector)]
    tensor, sums = t.vectors(at, width, [tensor, (t.zeros, t.vector)], square)
    rest = t.sum(sums[0])
    beta = t.with_sign(t.root(t.joined(head, head, rest)), t.negative(head))
    away = t.minus(head, beta)
    tau = t.choose(nothing, t.zero, t.over(t.negative(away), t.choose(nothing, t.one, beta)))
    factor = t.choose(nothing, t.zero, t.over(t.one, t.choose(nothing, t.one, away)))
    by = t.wide(factor)
    beta = t.over(t.choose(nothing, head, beta), t.choose(is_some, scale, t.one))

    def divide(j, tensor):
        return [t.put_part(tensor, t.each("arith.mulf", t.part(tensor, *place, j), by), *place, j)]
    tensor = t.vectors(at, width, [tensor], divide)[0]
    return t.put(tensor, t.one, *place, at), tau, beta, t.times(scale, factor)


def rotation(t, g, f):
    """Cosine and sine of that which makes (g, f) a number and nothing, and the number."""
    square = t.joined(g, g, t.times(f, f))

    def of_any(*_):
        r = t.root(square)
        return [(each, t.element) for each in (t.over(g, r), t.over(f, r), r)]

    def of_small(*_):
        most = t.float("arith.maximumf", t.size(g), t.size(f))
        nothing = t.compare("oeq", most, t.zero)
        by = t.choose(nothing, t.one, most)
        one, other = t.choose(nothing, t.one, t.over(g, by)), t.over(f, by)
        r = t.root(t.joined(one, one, t.times(other, other)))
        return [(each, t.element) for each in (t.over(one, r), t.over(other, r), t.times(r, most))]
    has_digits = t.compare("ogt", square, t.real(Ranges(t.element).small ** 2))
    return [value for value, _ in t.choice(has_digits, [(t.zero, t.element)] * 3, of_any, of_small)]


def in_order(t, n, how, values, *carried, exchanged=None):
    """The values, the first before which no other one comes; `exchanged` exchanges what belongs to two of them."""
    kind = "index"

    def step(i, values, *carried):
        mine = t.at(values, i)

        def first(j, at, best):
            other = t.at(values, j)
            is_before = t.compare(how, other, best[0])
            return [(t.chosen(is_before, j, at[0]), kind), (t.choose(is_before, other, best[0]), t.element)]
        (at, _), (best, _) = t.loop(t.next(i), t.index(n), [(i, kind), (mine, t.element)], first)
        values = t.put(t.put(values, mine, at), best, i)
        is_other = t.is_less(i, at)
        return [values, *(t.when(is_other, list(carried), lambda *carried: exchanged(i, at, *carried)) if carried else [])]
    return t.loop(t.none, t.index(n), [values, *carried], step)
