"""Factorizations that JAX asks LAPACK for, where they are short loops over columns: Cholesky, LU with pivots, triangular solves.

Each round is work on whole matrices, batches together; n rounds of n * n, and of larger matrices in blocks (blocked.py). Those of
complex matrices are written on complex numbers, before these become pairs; those of f16 and bf16 in f32. QR is in reflections.py. Cores do
real ones in one kernel each (factorizations_on_cores.py). What converges by iteration (eigenvalues, singular values) is in spectral.py.
"""
import math

from jaxlib.mlir import ir

from . import blocked, factorizations_on_cores as on_cores
from .build import Builder, element_of, has_unknown_sizes, integers, is_value, shape_of, tensor_type
from .on_cores import call_either, module_of
from .sorting import replace


class Matrices:
    """Rows and columns of the last two dimensions."""

    def __init__(self, b, value):
        self.b, self.shape = b, b.sizes(value)
        rank = len(self.shape)
        self.rows, self.columns, self.batch = rank - 2, rank - 1, list(range(rank - 2))
        self.is_known = not any(map(is_value, self.shape))
        self.row = b.iota(self.shape, self.rows)
        self.column = b.iota(self.shape, self.columns)

    # Parts of `a`, one of these: a value, and to which dimensions its own belong.

    def column_part(self, b, a, k):
        if self.is_known:
            return self._part(b, a, [None, k], [self.shape[-2], 1])
        chosen = b.select(b.compare("EQ", self.column, self.wide(b, k)), a, b.like(a, 0))
        return b.reduce("add", chosen, 0, self.columns), self.batch + [self.rows]

    def row_part(self, b, a, k):
        if self.is_known:
            return self._part(b, a, [k, None], [1, self.shape[-1]])
        chosen = b.select(b.compare("EQ", self.row, self.wide(b, k)), a, b.like(a, 0))
        return b.reduce("add", chosen, 0, self.rows), self.batch + [self.columns]

    def element_part(self, b, a, k):
        if self.is_known:
            return self._part(b, a, [k, k], [1, 1])
        row, _ = self.row_part(b, a, k)
        place = b.iota(b.sizes(row), len(self.batch))
        chosen = b.select(b.compare("EQ", place, b.broadcast(k, b.sizes(row), [])), row, b.like(row, 0))
        return b.reduce("add", chosen, 0, len(self.batch)), self.batch

    def across_part(self, b, a, k):
        """Column k as a row, as far as there are columns."""
        shape, rank = [*self.shape[:-2], self.shape[-1]], len(self.batch)
        if self.is_known:
            column, _ = self._part(b, a, [None, k], [self.shape[-1], 1])
            return b.reshape(column, shape), self.batch + [self.columns]
        column, _ = self.column_part(b, a, k)
        rows, columns = self.shape[-2:]
        is_square = rows is columns or rows == columns
        return column if is_square else b.slice(column, [0] * (rank + 1), shape), self.batch + [self.columns]

    def _part(self, b, a, places, sizes):
        zero = b.convert(b.scalar(0), element_of(next(place for place in places if place is not None)))
        starts = [zero] * len(self.batch) + [zero if place is None else place for place in places]
        return b.dynamic_slice(a, starts, [*self.shape[:-2], *sizes]), list(range(len(self.shape)))

    def spread(self, b, part):
        """For each element the one of the part that it belongs to."""
        return b.broadcast(part[0], self.shape, part[1])

    def column_of(self, b, a, k):
        """Column k, in each column."""
        return self.spread(b, self.column_part(b, a, k))

    def row_of(self, b, a, k):
        return self.spread(b, self.row_part(b, a, k))

    def element_of(self, b, a, k):
        return self.spread(b, self.element_part(b, a, k))

    def line_of(self, b, a, k):
        """Column k alone."""
        value, _ = self.column_part(b, a, k)
        return b.reshape(value, self.shape[:-1]) if self.is_known else value

    def wide(self, b, k):
        return b.broadcast(k, self.shape, [])


def is_complex(value):
    return isinstance(element_of(value), ir.ComplexType)


def part(b, name, value):
    """The real or the imaginary part, "real" or "imag"."""
    return b.value("stablehlo." + name, [value], tensor_type(shape_of(value), ir.ComplexType(element_of(value)).element_type))


def real(b, value):
    return part(b, "real", value) if is_complex(value) else value


def with_zero(b, numbers, like):
    """Real numbers as what the elements of `like` are."""
    return b.value("stablehlo.complex", [numbers, b.like(numbers, 0)], like.type) if is_complex(like) else numbers


def conjugate(b, value):
    if not is_complex(value):
        return value
    return b.value("stablehlo.complex", [part(b, "real", value), b.each("negate", part(b, "imag", value))], value.type)


def divided(b, value, by):
    """By real numbers."""
    if not is_complex(value):
        return b.divide(value, by)
    return b.value("stablehlo.complex", [b.divide(part(b, name, value), by) for name in ("real", "imag")], value.type)


def magnitude(b, value):
    """What pivots are chosen by: of complex numbers the sum of what their parts are, as in LAPACK."""
    if not is_complex(value):
        return b.each("abs", value)
    return b.add(*(b.each("abs", part(b, name, value)) for name in ("real", "imag")))


def adjoint(b, a):
    return conjugate(b, b.transpose(a, _turned(a)))


def cholesky(b, a, lower):
    if not lower:
        a = adjoint(b, a)
    if blocked.is_worth_it(b.sizes(a)[-1]) and not has_unknown_sizes(a):
        a = _blocked_cholesky(b, a)
    else:
        a = _panel(b, a)
    m = Matrices(b, a)
    a = b.select(b.compare("GE", m.row, m.column), a, b.like(a, 0))
    return a if lower else adjoint(b, a)


def _blocked_cholesky(b, a):
    def in_panels(inner, given):
        return [blocked.cholesky_of(inner, *given, lambda columns: _panel(inner, columns), lambda value: conjugate(inner, value))]

    if is_complex(a):
        return in_panels(b, [a])[0]
    return call_either(b, module_of(b), "cholesky_in_blocks", [a], [a.type], in_panels, on_blocks=lambda inner, given: [_cholesky_on_blocks(inner, *given)])[0]


def _cholesky_on_blocks(b, a):
    shape = shape_of(a)
    together = b.reshape(a, [math.prod(shape[:-2]), *shape[-2:]])
    made = call_either(b, module_of(b), "cholesky", [together], [together.type],
                       lambda inner, given: [blocked.cholesky_by_products(inner, *given, _panel_in_rounds)], says=_by_a_block("cholesky", shape))
    return b.reshape(made[0], shape)


def _turned(a):
    rank = len(shape_of(a))
    return [*range(rank - 2), rank - 1, rank - 2]


# Matrices of so few elements, those of a batch together, stay in rounds: they take less than a command does, and a loop over them stays
# one kernel (compiler-lite/schedule/small_loop_rules.hpp).
FEW_ELEMENTS = {"cholesky": 25, "lu": 16, "triangle": 64, "qr": 16, "reflections": 16}


def of_one_core(b, kind, operands, results, rounds, one_core, block_kind=None):
    """What `rounds` writes; for cores `one_core(name, shapes, element)`, where matrices are real and their sizes known. `results` are the
    sizes behind those of the batch, and elements."""
    shapes, element = [shape_of(each) for each in operands], element_of(operands[0])
    if is_complex(operands[0]) or has_unknown_sizes(*operands) or max(map(math.prod, shapes)) <= FEW_ELEMENTS[kind] or 0 in shapes[0] + shapes[-1]:
        return rounds(b, list(operands))
    rank = max(map(len, shapes)) - 2
    batch = shapes[0][:rank]
    together = [b.reshape(each, [math.prod(batch), *shape[rank:]]) for each, shape in zip(operands, shapes)]
    types = [tensor_type([math.prod(batch), *sizes], element) for sizes, element in results]
    made = call_either(b, module_of(b), kind, together, types, rounds, lambda name: one_core(name, [shape_of(each) for each in together], str(element)),
                       says=_by_a_block(block_kind or kind, shapes[0]))
    return [b.reshape(each, [*batch, *sizes]) for each, (sizes, _) in zip(made, results)]


# Matrices of so many elements that a block of threads keeps each in its own memory (compiler-lite/codegen/matrix_work.hpp). Smaller ones
# may be part of a loop that is one kernel.
BLOCK_ELEMENTS = 256
# Rows of one that stands in such memory beside some columns of x.
LARGEST_TRIANGLE = 80


def _by_a_block(kind, shape):
    if math.prod(shape[-2:]) < BLOCK_ELEMENTS or (kind == "cholesky" and shape[-2] < shape[-1]):
        return None
    return {"baton.factors": ir.StringAttr.get(kind)}


def _panel(b, a):
    return of_one_core(b, "cholesky", [a], [(shape_of(a)[-2:], element_of(a))], lambda inner, given: [_panel_in_rounds(inner, *given)],
                       lambda name, shapes, element: on_cores.cholesky(name, *shapes, element))[0]


def _panel_in_rounds(b, a):
    """The first columns of a matrix, right-looking: column k over the root of its head; its outer product is taken from what is right
    of it. Above the diagonal stays what stood there."""
    m = Matrices(b, a)
    rows, columns = m.shape[-2:]
    count = b.number(columns)

    def step(s, carried):
        k, a = carried
        wide = m.wide(s, k)
        is_mine = s.compare("EQ", m.column, wide)
        head = s.each("sqrt", real(s, m.element_of(s, a, k)))
        column = divided(s, m.column_of(s, a, k), head)
        if is_complex(a):
            column = s.select(s.compare("EQ", m.row, wide), with_zero(s, head, column), column)
        across = divided(s, conjugate(s, m.spread(s, m.across_part(s, a, k))), head)
        right = s.both(s.compare("GT", m.column, wide), s.compare("GT", m.row, wide))
        updated = s.select(right, s.subtract(a, s.multiply(column, across)), a)
        return [s.add(k, s.scalar(1)), s.select(is_mine, column, updated)]

    return b.loop([b.scalar(0), a], lambda s, carried: s.compare("LT", carried[0], count), step)[1]


def lu(b, a):
    shape = shape_of(a)
    results = [(shape[-2:], element_of(a)), ([min(shape[-2:])], ir.IntegerType.get_signless(32))]
    return of_one_core(b, "lu", [a], results, lambda inner, given: _lu_in_rounds(inner, *given),
                       lambda name, shapes, element: on_cores.lu(name, *shapes, element))


def _lu_in_rounds(b, a):
    """The packed factors and for each column the row (from 0) that it was exchanged with."""
    m = Matrices(b, a)
    rows, columns = m.shape[-2:]
    least = b.minimum(b.number(rows), b.number(columns)) if is_value(rows) or is_value(columns) else min(rows, columns)
    pivots = b.iota(m.shape[:-2] + [least], len(m.batch))

    def step(s, carried):
        k, a, pivots = carried
        wide = m.wide(s, k)
        line = m.line_of(s, a, k)
        size = magnitude(s, line)
        place = s.iota(s.sizes(size), len(m.batch))
        size = s.select(s.compare("GE", place, s.broadcast(k, s.sizes(size), [])), size, s.like(size, -1))
        largest = s.broadcast(s.reduce("maximum", size, -1, len(m.batch)), s.sizes(size), m.batch)
        pivot = s.reduce("minimum", s.select(s.compare("EQ", size, largest), place, s.filled(rows, place)), (1 << 31) - 1, len(m.batch))
        pivot = s.minimum(pivot, s.filled(s.difference(rows, 1), pivot))
        is_head = s.compare("EQ", place, s.broadcast(pivot, s.sizes(place), m.batch))
        head = s.broadcast(s.reduce("add", s.select(is_head, line, s.like(line, 0)), 0, len(m.batch)), m.shape, m.batch)
        is_other, is_mine = s.compare("EQ", m.row, s.broadcast(pivot, m.shape, m.batch)), s.compare("EQ", m.row, wide)
        # Row k and that of the pivot change places.
        there = s.reduce("add", s.select(is_other, a, s.like(a, 0)), 0, m.rows)
        there = s.broadcast(there, m.shape, m.batch + [m.columns])
        column = s.select(is_other, m.element_of(s, a, k), m.column_of(s, a, k))
        a = s.select(is_mine, there, s.select(is_other, m.row_of(s, a, k), a))
        below = s.compare("GT", m.row, wide)
        factors = s.divide(column, s.select(s.compare("EQ", head, 0), s.like(head, 1), head))
        updated = s.select(s.both(below, s.compare("GT", m.column, wide)), s.subtract(a, s.multiply(factors, there)), a)
        updated = s.select(s.both(below, s.compare("EQ", m.column, wide)), factors, updated)
        is_picked = s.compare("EQ", s.iota(s.sizes(pivots), len(m.batch)), s.broadcast(k, s.sizes(pivots), []))
        return [s.add(k, s.scalar(1)), updated, s.select(is_picked, s.broadcast(pivot, s.sizes(pivots), m.batch), pivots)]

    return b.loop([b.scalar(0), a, pivots], lambda s, carried: s.compare("LT", carried[0], b.number(least)), step)[1:]


def solve(b, a, right, lower, unit):
    """a x = right for a triangle of `a`."""
    if not blocked.is_worth_it(b.sizes(a)[-1]) or has_unknown_sizes(a, right):
        return _solved_by_rows(b, a, right, lower, unit)
    if shape_of(a)[-1] > LARGEST_TRIANGLE or is_complex(a):
        return _solved_in_blocks(b, a, right, lower, unit)
    return call_either(b, module_of(b), "solve", [a, right], [right.type], lambda inner, given: [_solved_in_blocks(inner, *given, lower, unit)],
                       on_blocks=lambda inner, given: [_solved_by_rows(inner, *given, lower, unit)])[0]


def _solved_in_blocks(b, a, right, lower, unit):
    def inverted(blocks):
        m = Matrices(b, blocks)
        one = b.select(b.compare("EQ", m.row, m.column), b.like(blocks, 1), b.like(blocks, 0))
        return _solved_by_rows(b, blocks, one, lower, unit)

    m = Matrices(b, a)
    # What is read of it is the triangle alone, with the diagonal that is meant.
    there = b.compare("GE" if lower else "LE", m.row, m.column)
    triangle = b.select(there, a, b.like(a, 0))
    if unit:
        triangle = b.select(b.compare("EQ", m.row, m.column), b.like(a, 1), triangle)
    return blocked.triangle_solved(b, triangle, right, lower, inverted)


def _solved_by_rows(b, a, right, lower, unit):
    return of_one_core(b, "triangle", [a, right], [(shape_of(right)[-2:], element_of(right))],
                       lambda inner, given: [_solved_in_rounds(inner, *given, lower, unit)],
                       lambda name, shapes, element: on_cores.solve(name, *shapes, element, lower, unit),
                       f"solve_{'lower' if lower else 'upper'}{'_unit' if unit else ''}")[0]


def _solved_in_rounds(b, a, right, lower, unit):
    """Each round subtracts one row of x from the others."""
    m, r = Matrices(b, a), Matrices(b, right)
    count = b.number(m.shape[-1])

    def step(s, carried):
        i, x = carried
        k = i if lower else s.subtract(s.subtract(count, 1), i)
        found = r.row_of(s, x, k)
        if not unit:
            found = s.divide(found, r.spread(s, m.element_part(s, a, k)))
        wide = r.wide(s, k)
        behind = s.compare("GT" if lower else "LT", r.row, wide)
        factors = r.spread(s, m.column_part(s, a, k))
        x = s.select(behind, s.subtract(x, s.multiply(factors, found)), x)
        return [s.add(i, s.scalar(1)), s.select(s.compare("EQ", r.row, wide), found, x)]

    return b.loop([b.scalar(0), right], lambda s, carried: s.compare("LT", carried[0], count), step)[1]


# JAX's calls ------------------------------------------------------------------------------------------------------------


def _letter(config, key):
    return chr(ir.IntegerAttr(config[key]).value) if key in config else ""


def _info(b, op, at):
    return b.full(b.sizes(op.operands[0])[:-2], 0, element_of(op.results[at]))


def lower_potrf(op, config):
    b = Builder.before(op)
    made = cholesky(b, op.operands[0], _letter(config, "uplo") == "L")
    replace(op, [made, _is_not_positive(b, made, element_of(op.results[1]))])


def _is_not_positive(b, factor, element):
    """1 for each matrix that has no factor: one whose diagonal is not positive throughout. JAX makes NaN of all of that."""
    m, factor = Matrices(b, factor), real(b, factor)
    heads = b.select(b.compare("EQ", m.row, m.column), factor, b.like(factor, 1))
    positive = b.convert(b.compare("GT", heads, 0), element)
    for dimension in (m.columns, m.rows):
        positive = b.reduce("minimum", positive, 1, dimension)
    return b.subtract(b.like(positive, 1), positive)


def lower_getrf(op, config):
    b = Builder.before(op)
    factors, pivots = lu(b, op.operands[0])
    replace(op, [factors, b.add(b.convert(pivots, element_of(op.results[1])), 1), _info(b, op, 2)])


def lower_trsm(op, config):
    b = Builder.before(op)
    a, right = op.operands[:2]
    turns = _letter(config, "trans_x")
    a = conjugate(b, a) if turns == "C" else a
    replace(op, [_solved(b, a, right, _letter(config, "side") == "L", _letter(config, "uplo") == "L", turns in ("T", "C"),
                         _letter(config, "diag") == "U")])


def lower_triangular_solve(op, module):
    b = Builder.before(op)
    flags = [ir.BoolAttr(op.attributes[name]).value for name in ("left_side", "lower", "unit_diagonal")]
    turns = str(op.attributes["transpose_a"])
    a, right = (_in_f32(b, each) for each in op.operands)
    a = conjugate(b, a) if "ADJOINT" in turns else a
    solved = _solved(b, a, right, flags[0], flags[1], "NO_TRANSPOSE" not in turns, flags[2])
    replace(op, [b.convert(solved, element_of(op.results[0]))])
    return True


def lower_cholesky(op, module):
    lower = "lower" in op.attributes and ir.BoolAttr(op.attributes["lower"]).value
    b = Builder.before(op)
    replace(op, [b.convert(cholesky(b, _in_f32(b, op.operands[0]), lower), element_of(op.results[0]))])
    return True


def _in_f32(b, value):
    return b.convert(value, ir.F32Type.get()) if isinstance(element_of(value), (ir.F16Type, ir.BF16Type)) else value


def _solved(b, a, right, is_left, lower, transposed, unit):
    turned = _turned(a)
    if transposed:
        a, lower = b.transpose(a, turned), not lower
    if is_left:
        return solve(b, a, right, lower, unit)
    # x a = right is, turned, a' x' = right'.
    return b.transpose(solve(b, b.transpose(a, turned), b.transpose(right, turned), not lower, unit), turned)


CALLS = {f"lapack_{kind}{name}_ffi": lower for kind in "sdcz" for name, lower in
         (("potrf", lower_potrf), ("getrf", lower_getrf), ("trsm", lower_trsm))}
