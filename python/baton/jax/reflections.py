"""QR as LAPACK has it: a loop over columns, each of which is turned onto an axis by a reflection; the matrix of the reflections.

A reflection is 1 - tau v v*, where v has zeros above the diagonal, a one on it, and below it what is kept in the matrix.
"""
from . import factorizations_on_cores as on_cores
from .build import Builder, element_of, is_value, shape_of
from .factorizations import Matrices, conjugate, divided, is_complex, magnitude, of_one_core, part, real, with_zero
from .reflected import is_of, over_rows, reflected, turned_by
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
        column, is_row, below = m.column_of(s, a, k), s.compare("EQ", m.row, m.wide(s, k)), s.compare("GT", m.row, m.wide(s, k))
        head = m.element_of(s, a, k)
        beta, nothing = _turned(s, m, column, head, s.either(is_row, below), below)
        tau, v = _reflection(s, column, head, beta, nothing, below)
        v = s.select(is_row, s.like(v, 1), v)
        right = s.compare("GT", m.column, m.wide(s, k))
        moved = s.select(right, turned_by(s, m, a, v, conjugate(s, tau)), a)
        kept = s.select(is_row, with_zero(s, beta, a), s.select(below, v, a))
        a = s.select(s.compare("EQ", m.column, m.wide(s, k)), kept, moved)
        return [s.add(k, s.scalar(1)), a, s.select(is_of(s, taus, k), _one_of(s, m, tau, s.sizes(taus)), taus)]

    taus = b.full(m.shape[:-2] + [least], 0, element_of(a))
    if 0 in m.shape:
        return [a, taus]
    return b.loop([b.scalar(0), a, taus], lambda s, carried: s.compare("LT", carried[0], b.number(least)), step)[1:]


def _turned(b, m, column, head, counts, below):
    """What the column becomes on the axis, real and in each place; and where it lies there already."""
    sizes = b.select(counts, magnitude(b, column), b.like(real(b, column), 0))
    largest = over_rows(b, m, "maximum", sizes)
    largest = b.select(b.compare("GT", largest, 0), largest, b.like(largest, 1))
    parts = [part(b, name, column) for name in ("real", "imag")] if is_complex(column) else [column]
    squares = [b.multiply(each, each) for each in (b.divide(each, largest) for each in parts)]
    squares = squares[0] if len(squares) == 1 else b.add(*squares)
    none = b.like(squares, 0)
    length = b.multiply(largest, b.each("sqrt", over_rows(b, m, "add", b.select(counts, squares, none))))
    nothing = b.compare("EQ", over_rows(b, m, "add", b.select(below, sizes, none)), 0)
    if is_complex(column):
        nothing = b.both(nothing, b.compare("EQ", part(b, "imag", head), 0))
    front = real(b, head)
    beta = b.select(b.compare("GE", front, 0), b.each("negate", length), length)
    return b.select(nothing, front, beta), nothing


def _reflection(b, column, head, beta, nothing, below):
    """Tau in each place, and v below the diagonal; of a column on the axis both are zero."""
    safe = b.select(nothing, b.like(beta, 1), beta)
    away = b.subtract(with_zero(b, beta, head), head)
    tau = divided(b, away, safe)
    away = b.select(nothing, b.like(away, 1), away)
    none = b.like(column, 0)
    v = b.select(b.both(below, b.negated(nothing)), b.divide(b.each("negate", column), away), none)
    return b.select(nothing, none, tau), v


def _one_of(b, m, value, shape):
    """What stands in each place of a matrix, for each place of `shape`."""
    starts, ends = [0] * len(m.shape), m.shape[:-2] + [1, 1]
    return b.broadcast(b.reshape(b.slice(value, starts, ends), m.shape[:-2]), shape, m.batch)


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
    replace(op, [*qr(b, op.operands[0]), *_infos(b, op, 2)])


def lower_orgqr(op, config):
    b = Builder.before(op)
    replace(op, [matrix_of(b, *op.operands), *_infos(b, op, 1)])


def _infos(b, op, first):
    return [b.full(shape_of(each), 0, element_of(each)) for each in list(op.results)[first:]]


CALLS = {f"lapack_{kind}geqrf_ffi": lower_geqrf for kind in "sdcz"}
CALLS |= {f"lapack_{name}_ffi": lower_orgqr for name in ("sorgqr", "dorgqr", "cungqr", "zungqr")}
