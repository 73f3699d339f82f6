"""A matrix times the reflections that QR leaves (reflections.py), or their product times it, without that product."""
from jaxlib.mlir import ir

from .build import Builder, element_of, shape_of
from .factorizations import Matrices, adjoint, conjugate
from .sorting import replace


def reflected(b, a, taus, c, is_adjoint):
    """The product of the reflections that `a` and `taus` keep, or its adjoint, times `c`."""
    packed, m, count = Matrices(b, a), Matrices(b, c), shape_of(taus)[-1]

    def step(s, carried):
        i, c = carried
        k = i if is_adjoint else s.subtract(s.scalar(count - 1), i)
        v, tau = _vector(s, packed, m, a, k), _tau(s, taus, k)
        tau = s.broadcast(conjugate(s, tau) if is_adjoint else tau, m.shape, m.batch)
        return [s.add(i, s.scalar(1)), turned_by(s, m, c, v, tau)]

    return b.loop([b.scalar(0), c], lambda s, carried: s.compare("LT", carried[0], b.scalar(count)), step)[1]


def turned_by(b, m, a, v, tau):
    """Each column of the matrices by a reflection, whose vector and tau stand in each place."""
    along = over_rows(b, m, "add", b.multiply(conjugate(b, v), a))
    return b.subtract(a, b.multiply(tau, b.multiply(v, along)))


def over_rows(b, m, name, value):
    """The sum or the like of each column, in each place of it."""
    return b.broadcast(b.reduce(name, value, 0, m.rows), m.shape, m.batch + [m.columns])


def is_of(b, taus, k):
    """Whether a tau is that of column k."""
    return b.compare("EQ", b.iota(b.sizes(taus), len(b.sizes(taus)) - 1), b.broadcast(k, b.sizes(taus), []))


def _vector(b, packed, m, a, k):
    """That of reflection k, in each column of the matrices `m`: zeros, a one in row k, and what column k of `a` has below."""
    kept = b.broadcast(packed.line_of(b, a, k), m.shape, m.batch + [m.rows])
    below = b.select(b.compare("GT", m.row, m.wide(b, k)), kept, b.like(kept, 0))
    return b.select(b.compare("EQ", m.row, m.wide(b, k)), b.like(below, 1), below)


def _tau(b, taus, k):
    return b.reduce("add", b.select(is_of(b, taus, k), taus, b.like(taus, 0)), 0, len(shape_of(taus)) - 1)


def lower_ormqr(op, config):
    """A product with the matrix on the right is the adjoint of one with its adjoint on the left."""
    b = Builder.before(op)
    a, taus, c = op.operands
    is_left, is_adjoint = (ir.BoolAttr(config[name]).value for name in ("left", "transpose"))
    if 0 in shape_of(c) + shape_of(taus):
        made = c
    else:
        made = reflected(b, a, taus, c, is_adjoint) if is_left else adjoint(b, reflected(b, a, taus, adjoint(b, c), not is_adjoint))
    replace(op, [made, *[b.full(shape_of(each), 0, element_of(each)) for each in list(op.results)[1:]]])


CALLS = {f"lapack_{name}_ffi": lower_ormqr for name in ("sormqr", "dormqr", "cunmqr", "zunmqr")}
