"""Eigenvalues of symmetric matrices, and singular values of any, by Jacobi's rotations of columns.

A round turns each column of one half of the matrix with one of the other half until both are orthogonal, so that it is work on
whole matrices, batches together. Then all columns but the first move on by one, as players of a tournament do: n - 1 rounds, a
sweep, bring each pair together. Sweeps follow each other until none finds a pair that is not orthogonal.

A core has less to do where a real matrix becomes tridiagonal or bidiagonal first (eigenvalues_on_cores.py, singular_values_on_cores.py).
"""
import math

from jaxlib.mlir import ir

from . import factorizations_on_cores as on_cores
from .blocked import product
from .build import element_of, shape_of
from .factorizations import adjoint, conjugate, divided, is_complex, real, with_zero
from .matrices import along, columns_of, is_diagonal, mirrored, precision, rows_of, scaled, squares_of, sum_over
from .on_cores import call_either, module_of
from .reflections import matrix_of, qr

SWEEPS_MAX = 30  # A dozen is many; one that meets a NaN may not end.


def eigenvectors(b, a, lower):
    """The eigenvalues of a symmetric matrix, the least first, and its eigenvectors as columns."""
    a, scale = scaled(b, mirrored(b, a, lower))
    # No eigenvalue is larger than the bound, by its fourth power: those of what is turned are larger than 0, so that none differs from
    # another in its sign alone.
    square = product(b, a, a)
    bound = sum_over(b, sum_over(b, squares_of(b, product(b, square, square)), -1), -1)
    for _ in range(3):
        bound = b.each("sqrt", bound)
    shift = along(b, b.multiply(bound, 1.5), shape_of(a), 0)
    turned = b.add(a, b.select(is_diagonal(b, a), with_zero(b, shift, a), b.like(a, 0)))
    vectors = _turns(b, turned)
    values = sum_over(b, real(b, b.each("multiply", conjugate(b, vectors), product(b, a, vectors))), -2)
    values, vectors = _in_order(b, values, vectors, "LT")
    return b.multiply(values, along(b, scale, shape_of(values), 0)), vectors


def singular_vectors(b, a, is_full):
    """Singular values, the largest first, and the matrices U and V of columns: all of them where `is_full`, else as many as values."""
    rows, columns = shape_of(a)[-2:]
    if rows < columns:
        values, v, u = singular_vectors(b, adjoint(b, a), is_full)
        return values, u, v
    a, scale = scaled(b, a)
    v = _turns(b, a)
    a = product(b, a, v)
    values = b.each("sqrt", sum_over(b, squares_of(b, a), -2))
    values, both = _in_order(b, values, b.concatenate([a, v], len(shape_of(a)) - 2), "GT")
    a, v = rows_of(b, both, 0, rows), rows_of(b, both, rows, rows + columns)
    return b.multiply(values, along(b, scale, shape_of(values), 0)), _orthonormal(b, a, rows if is_full else columns), v


def _orthonormal(b, a, count):
    """`count` columns of length one, the first in the directions of those of `a`, which are orthogonal, the longest first."""
    packed, taus = qr(b, a)
    rank, (rows, columns) = len(shape_of(a)), shape_of(a)[-2:]
    head = sum_over(b, b.select(is_diagonal(b, packed), packed, b.like(packed, 0)), -2)  # Each is a number without an imaginary part.
    sign = b.select(b.compare("LT", real(b, head), 0), b.like(real(b, head), -1), b.like(real(b, head), 1))
    wide = b.pad(packed, 0, [0] * rank, [0] * (rank - 1) + [count - columns])
    sign = b.pad(sign, 1, [0] * (rank - 1), [0] * (rank - 2) + [count - columns])
    made = matrix_of(b, wide, taus)
    return b.each("multiply", made, with_zero(b, along(b, sign, shape_of(made), 1), made))


# Rotations --------------------------------------------------------------------------------------------------------------


def _turns(b, a):
    """The orthogonal matrix that makes the columns of `a` orthogonal, which is multiplied by it."""
    rows, columns = shape_of(a)[-2:]
    square = b.full(shape_of(a)[:-2] + [columns, columns], 0, element_of(a))
    turns = b.select(is_diagonal(b, square), b.like(square, 1), square)
    if columns < 2:
        return turns
    rank = len(shape_of(a))
    both = _orthogonal_in(b, b.concatenate([a, turns], rank - 2), rows)
    turns = rows_of(b, both, rows, rows + columns)
    # Rounding has made it a little longer or shorter than an orthogonal one: a step of Newton's towards that.
    third = b.select(is_diagonal(b, turns), b.like(turns, 1.5), b.like(turns, 0))
    squares = b.each("multiply", product(b, adjoint(b, turns), turns), b.like(turns, 0.5))
    return product(b, turns, b.subtract(third, squares))


def _orthogonal_in(b, both, rows):
    """Columns turned until they are orthogonal in their first `rows` numbers. Blocks of threads keep lines, which columns become, and say
    how many numbers of them are compared (compiler-lite/codegen/matrix_work.hpp); a core turns one pair of lines after another."""
    if is_complex(both):
        return _in_sweeps(b, both, rows)
    shape, rank = shape_of(both), len(shape_of(both))
    turned = [*range(rank - 2), rank - 1, rank - 2]
    lines = b.reshape(b.transpose(both, turned), [math.prod(shape[:-2]), shape[-1], shape[-2]])
    says = {"baton.rotates": ir.IntegerAttr.get(ir.IntegerType.get_signless(64), rows)}

    def in_rounds(inner, given):
        return [inner.transpose(_in_sweeps(inner, inner.transpose(given[0], [0, 2, 1]), rows), [0, 2, 1])]

    def one_core(name):
        return on_cores.rotations(name, shape_of(lines), str(element_of(lines)), rows, precision(lines), SWEEPS_MAX)

    is_empty = 0 in shape
    (made,) = call_either(b, module_of(b), "rotations", [lines], [lines.type], in_rounds, None if is_empty else one_core, says=says)
    return b.transpose(b.reshape(made, [*shape[:-2], shape[-1], shape[-2]]), turned)


def _in_sweeps(b, both, rows):
    columns, rank = shape_of(both)[-1], len(shape_of(both))
    half = (columns + 1) // 2
    both = b.pad(both, 0, [0] * rank, [0] * (rank - 1) + [2 * half - columns])  # A column without length is never turned.
    halves = [columns_of(b, both, 0, half), columns_of(b, both, half, 2 * half)]

    def round_(s, carried):
        k, left, right, found = carried
        left, right, is_turned = _turned(s, left, right, rows)
        return [s.add(k, s.scalar(1)), *_moved_on(s, left, right), s.maximum(found, is_turned)]

    def sweep(s, carried):
        first = [s.scalar(0), *carried[1:3], s.scalar(0)]
        last = s.loop(first, lambda t, each: t.compare("LT", each[0], t.scalar(2 * half - 1)), round_)
        return [s.add(carried[0], s.scalar(1)), *last[1:]]

    def goes_on(s, carried):
        return s.both(s.compare("LT", carried[0], s.scalar(SWEEPS_MAX)), s.compare("GT", carried[3], s.scalar(0)))

    _, left, right, _ = b.loop([b.scalar(0), *halves, b.scalar(1)], goes_on, sweep)
    return columns_of(b, b.concatenate([left, right], rank - 1), 0, columns)


def _turned(b, left, right, rows):
    """Pairs of columns, orthogonal in their first rows; and whether any was not."""
    p, q = rows_of(b, left, 0, rows), rows_of(b, right, 0, rows)
    first, last = (sum_over(b, squares_of(b, each), -2) for each in (p, q))
    between = sum_over(b, b.each("multiply", conjugate(b, p), q), -2)
    cosine, sine, phase, is_turned = _rotation(b, first, last, between, rows)
    cosine, sine, phase = (along(b, each, shape_of(left), 1) for each in (cosine, sine, phase))
    cosine, sine = with_zero(b, cosine, left), with_zero(b, sine, left)
    right = b.each("multiply", right, conjugate(b, phase)) if is_complex(left) else right
    return (b.subtract(b.each("multiply", cosine, left), b.each("multiply", sine, right)),
            b.add(b.each("multiply", sine, left), b.each("multiply", cosine, right)), is_turned)


def _rotation(b, first, last, between, rows):
    """Cosine, sine and phase for pairs of columns with the squares `first` and `last` and the product `between`; and 1 where one of
    them is not that of orthogonal columns. A real product's sign is part of the sine."""
    size = b.each("sqrt", squares_of(b, between)) if is_complex(between) else b.each("abs", between)
    tolerance = precision(first) * max(8.0, math.sqrt(rows))
    bound = b.multiply(b.multiply(b.each("sqrt", first), b.each("sqrt", last)), tolerance)
    counts = b.compare("GT", size, b.add(bound, precision(first) ** 3))
    safe = b.select(counts, real(b, between) if not is_complex(between) else size, b.like(size, 1))
    slope = b.divide(b.subtract(last, first), b.add(safe, safe))
    steep = b.add(b.each("abs", slope), b.each("sqrt", b.add(b.multiply(slope, slope), 1)))
    tangent = b.divide(b.select(b.compare("LT", slope, 0), b.like(slope, -1), b.like(slope, 1)), steep)
    tangent = b.select(counts, tangent, b.like(tangent, 0))
    cosine = b.divide(b.like(tangent, 1), b.each("sqrt", b.add(b.multiply(tangent, tangent), 1)))
    phase = divided(b, b.select(counts, between, b.like(between, 1)), b.select(counts, size, b.like(size, 1)))
    found = b.convert(counts, ir.IntegerType.get_signless(32))
    while shape_of(found):
        found = b.reduce("maximum", found, 0, 0)
    return cosine, b.multiply(cosine, tangent), phase, found


def _moved_on(b, left, right):
    half, dimension = shape_of(left)[-1], len(shape_of(left)) - 1
    if half == 1:
        return left, right
    first = [columns_of(b, left, 0, 1), columns_of(b, right, 0, 1), columns_of(b, left, 1, half - 1)]
    if half == 2:
        first.pop()
    return b.concatenate(first, dimension), b.concatenate([columns_of(b, right, 1, half), columns_of(b, left, half - 1, half)], dimension)


# Before and after -------------------------------------------------------------------------------------------------------


def _in_order(b, values, columns, direction):
    """The values in order, and columns with them; equal ones stay in theirs."""
    shape = shape_of(values) + shape_of(values)[-1:]
    rank = len(shape)
    before, behind = b.broadcast(values, shape, [*range(rank - 2), rank - 2]), b.broadcast(values, shape, [*range(rank - 2), rank - 1])
    is_first = b.both(b.compare("EQ", before, behind), b.compare("LT", b.iota(shape, rank - 2), b.iota(shape, rank - 1)))
    is_before = b.either(b.compare(direction, before, behind), is_first)
    place = sum_over(b, b.convert(is_before, ir.IntegerType.get_signless(32)), -2)
    is_there = b.compare("EQ", b.broadcast(place, shape, list(range(rank - 1))), b.iota(shape, rank - 1))
    ordered = sum_over(b, b.select(is_there, before, b.like(before, 0)), -2)
    wide = b.select(is_there, b.full(shape, 1, element_of(columns)), b.full(shape, 0, element_of(columns)))
    return ordered, product(b, columns, wide)
