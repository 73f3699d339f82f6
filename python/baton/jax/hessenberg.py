"""Hessenberg and tridiagonal forms as LAPACK has them: column after column is turned, by a reflection of rows and columns alike, so that
nothing is left below its neighbour of the diagonal. And QR with pivots, whose columns come in the order of what is left of them.
"""
from jaxlib.mlir import ir

from .build import Builder, element_of, has_unknown_sizes, shape_of
from .factorizations import Matrices, conjugate, divided, magnitude, real
from .matrices import along, is_diagonal, mirrored, squares_of, sum_over
from .reflected import turned_by
from .reflections import column_turned, down, everywhere, infos, matrix_of, with_column_done, with_tau
from .sorting import replace


def hessenberg(b, a):
    """The form with the reflections' vectors below it, and their taus, one less than columns."""
    m = Matrices(b, a)
    size = m.shape[-1]
    taus = b.full(m.shape[:-2] + [size - 1], 0, element_of(a))
    if size < 2 or 0 in m.shape:
        return [a, taus]

    def step(s, carried):
        k, a, taus = carried
        v, tau, kept = column_turned(s, m, a, k, s.add(k, s.scalar(1)))
        moved = turned_by(s, m, a, down(s, m, v), everywhere(s, m, conjugate(s, tau)))
        across = s.broadcast(v, m.shape, m.batch + [m.columns])
        sums = down(s, m, sum_over(s, s.multiply(moved, across), -1))
        moved = s.subtract(moved, s.multiply(everywhere(s, m, tau), s.multiply(sums, conjugate(s, across))))
        behind, here = s.compare("GT", m.column, m.wide(s, k)), s.compare("EQ", m.column, m.wide(s, k))
        return [s.add(k, s.scalar(1)), s.select(behind, moved, s.select(here, down(s, m, kept), a)), with_tau(s, taus, k, tau)]

    return b.loop([b.scalar(0), a, taus], lambda s, carried: s.compare("LT", carried[0], b.scalar(size - 1)), step)[1:]


def matrix_of_hessenberg(b, packed, taus):
    """The product of its reflections."""
    shape, rank = shape_of(packed), len(shape_of(packed))
    identity = b.select(is_diagonal(b, packed), b.like(packed, 1), b.like(packed, 0))
    if shape[-1] < 2 or 0 in shape:
        return identity
    inner = b.slice(packed, [0] * (rank - 2) + [1, 0], shape[:-1] + [shape[-1] - 1])
    wide = b.pad(matrix_of(b, inner, taus), 0, [0] * (rank - 2) + [1, 1], [0] * rank)
    first = b.compare("EQ", b.iota(shape, rank - 1), b.full(shape, 0, ir.IntegerType.get_signless(32)))
    return b.select(first, identity, wide)


def tridiagonal(b, a, lower):
    """Of a symmetric matrix, of which one triangle is given: it with the reflections' vectors in that one, the diagonal, what stands
    beside it, and taus. By its upper triangle it is the matrix from the other end."""
    if not lower:
        sides = [len(shape_of(a)) - 2, len(shape_of(a)) - 1]
        packed, *lines = tridiagonal(b, b.reverse(a, sides), True)
        return [b.reverse(packed, sides), *(b.reverse(each, [len(shape_of(each)) - 1]) for each in lines)]
    m = Matrices(b, a)
    packed, taus = hessenberg(b, mirrored(b, a, lower))
    diagonal = sum_over(b, b.select(is_diagonal(b, a), real(b, packed), b.like(real(b, packed), 0)), -2)
    is_below = b.compare("EQ", m.row, b.add(m.column, 1))
    beside = sum_over(b, b.select(is_below, real(b, packed), b.like(real(b, packed), 0)), -2)
    beside = b.slice(beside, [0] * len(shape_of(beside)), shape_of(taus))
    return [b.select(b.compare("GE", m.row, m.column), packed, a), diagonal, beside, taus]


def qr_with_pivots(b, a):
    """The packed factors, for each of their columns which one it was, from 0, and taus."""
    m = Matrices(b, a)
    rows, columns = m.shape[-2:]
    taus = b.full(m.shape[:-2] + [min(rows, columns)], 0, element_of(a))
    places = b.iota(m.shape[:-2] + [columns], len(m.batch))
    if 0 in m.shape:
        return [a, places, taus]

    def step(s, carried):
        k, a, places, taus = carried
        a, places = _with_longest(s, m, a, places, k)
        a, taus = with_column_done(s, m, a, taus, k)
        return [s.add(k, s.scalar(1)), a, places, taus]

    return b.loop([b.scalar(0), a, places, taus], lambda s, carried: s.compare("LT", carried[0], b.scalar(min(rows, columns))), step)[1:]


def _with_longest(b, m, a, places, k):
    """Column k and the one from it on that is the longest from row k on, the first of equal ones, exchanged. Lengths are told in parts of
    the largest number there, whose squares are neither too large nor too small for one."""
    counts = b.both(b.compare("GE", m.row, m.wide(b, k)), b.compare("GE", m.column, m.wide(b, k)))
    sizes = b.select(counts, magnitude(b, a), b.like(magnitude(b, a), 0))
    largest = b.reduce("maximum", b.reduce("maximum", sizes, 0, m.columns), 0, m.rows)
    largest = b.select(b.compare("GT", largest, 0), largest, b.like(largest, 1))
    squares = squares_of(b, divided(b, a, along(b, largest, m.shape, 0)))
    lengths = sum_over(b, b.select(counts, squares, b.like(squares, 0)), -2)
    place = b.iota(shape_of(lengths), len(m.batch))
    wide = b.broadcast(k, shape_of(lengths), [])
    lengths = b.select(b.compare("GE", place, wide), lengths, b.like(lengths, -1))
    longest = along(b, b.reduce("maximum", lengths, -1, len(m.batch)), shape_of(lengths), 0)
    other = b.reduce("minimum", b.select(b.compare("EQ", lengths, longest), place, b.like(place, m.shape[-1] - 1)), m.shape[-1] - 1, len(m.batch))
    there = along(b, other, m.shape, 0)
    is_there, is_here = b.compare("EQ", m.column, there), b.compare("EQ", m.column, m.wide(b, k))
    found = sum_over(b, b.select(is_there, a, b.like(a, 0)), -1)
    found = b.broadcast(found, m.shape, m.batch + [m.rows])
    a = b.select(is_here, found, b.select(is_there, m.column_of(b, a, k), a))
    there = along(b, other, shape_of(places), 0)
    is_there, is_here = b.compare("EQ", place, there), b.compare("EQ", place, wide)
    theirs, mine = (sum_over(b, b.select(each, places, b.like(places, 0)), -1) for each in (is_there, is_here))
    theirs, mine = (along(b, each, shape_of(places), 0) for each in (theirs, mine))
    return a, b.select(is_here, theirs, b.select(is_there, mine, places))


# JAX's calls ------------------------------------------------------------------------------------------------------------


def _refuse_unknown_sizes(op, what):
    if has_unknown_sizes(op.operands[0]):
        raise NotImplementedError(f"{what} of matrices whose sizes are not known is not lowered: give them sizes")


def lower_gehrd(op, config):
    b = Builder.before(op)
    _refuse_unknown_sizes(op, "the Hessenberg form")
    low, high = (ir.IntegerAttr(config[name]).value for name in ("low", "high"))
    if (low, high) != (1, shape_of(op.operands[0])[-1]):
        raise NotImplementedError(f"the Hessenberg form of rows {low} to {high} alone is not lowered: of all of them it is")
    replace(op, [*hessenberg(b, op.operands[0]), *infos(b, op, 2)])


def lower_sytrd(op, config):
    b = Builder.before(op)
    _refuse_unknown_sizes(op, "the tridiagonal form")
    replace(op, [*tridiagonal(b, op.operands[0], ir.IntegerAttr(config["uplo"]).value == ord("L")), *infos(b, op, 4)])


def lower_geqp3(op, config):
    """All columns are free to go, as where the second operand holds zeros, which is all that JAX's qr gives."""
    b = Builder.before(op)
    _refuse_unknown_sizes(op, "QR with pivots")
    _refuse_fixed_columns(op.operands[1])
    packed, places, taus = qr_with_pivots(b, op.operands[0])
    replace(op, [packed, b.add(b.convert(places, element_of(op.results[1])), 1), taus])


def _refuse_fixed_columns(pivots):
    op = None if isinstance(pivots.owner, ir.Block) else pivots.owner
    while op is not None and op.name == "stablehlo.broadcast_in_dim":
        op = None if isinstance(op.operands[0].owner, ir.Block) else op.operands[0].owner
    if op is not None and op.name == "stablehlo.constant":
        value = ir.DenseElementsAttr(op.attributes["value"])
        if value.is_splat and ir.IntegerAttr(value.get_splat_value()).value == 0:
            return
    raise NotImplementedError("QR whose pivots are partly given is not lowered: with zeros in their place all columns are chosen (qr(pivoting=True))")


CALLS = {f"lapack_{kind}gehrd_ffi": lower_gehrd for kind in "sdcz"} | {f"lapack_{kind}geqp3_ffi": lower_geqp3 for kind in "sdcz"}
CALLS |= {f"lapack_{name}_ffi": lower_sytrd for name in ("ssytrd", "dsytrd", "chetrd", "zhetrd")}
