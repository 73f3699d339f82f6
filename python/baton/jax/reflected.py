"""A matrix times the reflections that QR leaves (reflections.py), or their product times it, without that product."""
from jaxlib.mlir import ir

from .build import Builder, element_of, shape_of
from .factorizations import Matrices, conjugate
from .sorting import replace


def adjoint(b, a):
    rank = len(shape_of(a))
    return conjugate(b, b.transpose(a, [*range(rank - 2), rank - 1, rank - 2]))


def reflected(b, a, taus, c, is_adjoint):
    """The product of the reflections that `a` and `taus` keep, or its adjoint, times `c`."""
    packed, m, count = Matrices(b, a), Matrices(b, c), shape_of(taus)[-1]

    def step(s, carried):
        i, c = carried
        k = i if is_adjoint else s.subtract(s.scalar(count - 1), i)
        v, tau = _vector(s, packed, m, a, k), _tau(s, taus, k)
        tau = s.broadcast(conjugate(s, tau) if is_adjoint else tau, m.shape, m.batch)
        along = s.reduce("add", s.multiply(conjugate(s, v), c), 0, m.rows)
        along = s.broadcast(along, m.shape, m.batch + [m.columns])
        return [s.add(i, s.scalar(1)), s.subtract(c, s.multiply(tau, s.multiply(v, along)))]

    return b.loop([b.scalar(0), c], lambda s, carried: s.compare("LT", carried[0], b.scalar(count)), step)[1]


def _vector(b, packed, m, a, k):
    """That of reflection k, in each column of the matrices `m`: zeros, a one in row k, and what column k of `a` has below."""
    chosen = b.select(b.compare("EQ", packed.column, packed.wide(b, k)), a, b.like(a, 0))
    kept = b.broadcast(b.reduce("add", chosen, 0, packed.columns), m.shape, m.batch + [m.rows])
    below = b.select(b.compare("GT", m.row, m.wide(b, k)), kept, b.like(kept, 0))
    return b.select(b.compare("EQ", m.row, m.wide(b, k)), b.like(below, 1), below)


def _tau(b, taus, k):
    last = len(shape_of(taus)) - 1
    is_there = b.compare("EQ", b.iota(shape_of(taus), last), b.broadcast(k, shape_of(taus), []))
    return b.reduce("add", b.select(is_there, taus, b.like(taus, 0)), 0, last)


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
