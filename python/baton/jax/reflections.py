"""QR as LAPACK has it: a loop over columns, each of which is turned onto an axis by a reflection; the matrix of the reflections.

A reflection is 1 - tau v v*, where v has zeros above the diagonal, a one on it, and below it what is kept in the matrix.
"""
from . import factorizations_on_cores as on_cores
from .build import Builder, element_of, is_value, shape_of
from .factorizations import Matrices, conjugate, divided, is_complex, magnitude, of_one_core, part, real, with_zero
from .matrices import along, squares_of, sum_over
from .reflected import is_of, reflected, turned_by
from .sorting import replace


def qr(b, a):
    """The packed factors and for each column its tau."""
    if any(map(is_value, b.sizes(a))):
        raise NotImplementedError('QR of matrices whose sizes are not known is not lowered: give them sizes')
    shape = shape_of(a)
    results = [(shape[-2:], element_of(a)), ([min(shape[-2:])], element_of(a))]
    return of_one_core(b, "qr", [a], results, lambda inner, given: _qr_in_rounds(inner, *given),
                       lambda name, shapes, element: on_cores.qr(name, *shapes, element))


def _qr_in_rounds(b, a):
    m = Matrices(b, a)
    least = min(m.shape[-2:])

    def step(s, carried):
        k, a, taus = carried
        return [s.add(k, s.scalar(1)), *with_column_done(s, m, a, taus, k)]

    taus = b.full(m.shape[:-2] + [least], 0, element_of(a))
    if 0 in m.shape:
        return [a, taus]
    return b.loop([b.scalar(0), a, taus], lambda s, carried: s.compare("LT", carried[0], b.number(least)), step)[1:]


def with_column_done(b, m, a, taus, k):
    """Column k turned onto its axis, and what is right of it by the same reflection; taus with its own."""
    v, tau, kept = column_turned(b, m, a, k, k)
    moved = turned_by(b, m, a, down(b, m, v), everywhere(b, m, conjugate(b, tau)))
    behind, here = b.compare("GT", m.column, m.wide(b, k)), b.compare("EQ", m.column, m.wide(b, k))
    return b.select(behind, moved, b.select(here, down(b, m, kept), a)), with_tau(b, taus, k, tau)


def column_turned(b, m, a, k, row):
    """Column k from a row on: the vector and tau of its reflection, and the column as it is kept, with what is left of it in that row
    and the vector below."""
    column = m.line_of(b, a, k)
    place, row = b.iota(b.sizes(column), m.rows), b.broadcast(row, b.sizes(column), [])
    v, tau, beta = reflection(b, b.select(b.compare("GE", place, row), column, b.like(column, 0)), row)
    left = with_zero(b, along(b, beta, shape_of(column), 0), column)
    kept = b.select(b.compare("GT", place, row), v, column)
    return v, tau, b.select(b.compare("EQ", place, row), left, kept)


def reflection(b, x, head_place):
    """Of lines x, which are zeros but for those from the head on: v with a one in the head's place, tau, and what is left of x there, a
    real number. Of a line that has nothing else tau is 0. All is done with x divided by its largest number: what is left of a column may be
    too small for divisions, and numbers as small have few digits."""
    shape = shape_of(x)
    is_head = b.compare("EQ", b.iota(shape, len(shape) - 1), head_place)
    sizes = magnitude(b, x)
    largest = b.reduce("maximum", sizes, 0, len(shape) - 1)
    largest = b.select(b.compare("GT", largest, 0), largest, b.like(largest, 1))
    left = sum_over(b, b.select(is_head, x, b.like(x, 0)), -1)
    nothing = b.compare("EQ", sum_over(b, b.select(is_head, b.like(sizes, 0), sizes), -1), 0)
    if is_complex(x):
        nothing = b.both(nothing, b.compare("EQ", part(b, "imag", left), 0))
    x, head = divided(b, x, along(b, largest, shape, 0)), divided(b, left, largest)
    length = b.each("sqrt", sum_over(b, squares_of(b, x), -1))
    beta = b.select(b.compare("GE", real(b, head), 0), b.each("negate", length), length)
    away = b.subtract(head, with_zero(b, beta, head))
    tau = divided(b, b.each("negate", away), b.select(nothing, b.like(beta, 1), beta))
    away = b.select(nothing, b.like(away, 1), away)
    # Their size is about one, so that the square of it does no harm.
    share = divided(b, conjugate(b, away), squares_of(b, away)) if is_complex(x) else b.divide(b.like(away, 1), away)
    v = b.each("multiply", x, along(b, b.select(nothing, b.like(share, 0), share), shape, 0))
    return (b.select(is_head, b.like(x, 1), v), b.select(nothing, b.like(tau, 0), tau),
            b.select(nothing, real(b, left), b.multiply(beta, largest)))


def down(b, m, line):
    """A number for each row, in each column."""
    return b.broadcast(line, m.shape, m.batch + [m.rows])


def everywhere(b, m, value):
    """A number for each matrix, in each place."""
    return b.broadcast(value, m.shape, m.batch)


def with_tau(b, taus, k, tau):
    return b.select(is_of(b, taus, k), along(b, tau, shape_of(taus), 0), taus)


def matrix_of(b, a, taus):
    """The product of the reflections: their columns as far as `a` has any."""
    return of_one_core(b, "reflections", [a, taus], [(shape_of(a)[-2:], element_of(a))],
                       lambda inner, given: [_matrix_in_rounds(inner, *given)],
                       lambda name, shapes, element: on_cores.reflections(name, *shapes, element))[0]


def _matrix_in_rounds(b, a, taus):
    m = Matrices(b, a)
    start = b.select(b.compare("EQ", m.row, m.column), b.like(a, 1), b.like(a, 0))
    return reflected(b, a, taus, start, is_adjoint=False)


# JAX's calls ------------------------------------------------------------------------------------------------------------


def lower_geqrf(op, config):
    b = Builder.before(op)
    replace(op, [*qr(b, op.operands[0]), *infos(b, op, 2)])


def lower_orgqr(op, config):
    b = Builder.before(op)
    replace(op, [matrix_of(b, *op.operands), *infos(b, op, 1)])


def infos(b, op, first):
    return [b.full(shape_of(each), 0, element_of(each)) for each in list(op.results)[first:]]


CALLS = {f"lapack_{kind}geqrf_ffi": lower_geqrf for kind in "sdcz"}
CALLS |= {f"lapack_{name}_ffi": lower_orgqr for name in ("sorgqr", "dorgqr", "cungqr", "zungqr")}
