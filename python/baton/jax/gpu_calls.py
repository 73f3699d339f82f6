"""What JAX asks of cuSOLVER and cuSPARSE when it lowers for GPUs, as the calls of LAPACK that it makes for processors: a program that was
exported on a machine with a GPU is lowered as any other. Which device does the work, the program's targets and `libraries` say.
"""
import math

from jaxlib.mlir import ir

from . import factorizations_on_cores as on_cores
from .boundary import entries
from .build import Builder, element_of, has_unknown_sizes, shape_of, tensor_type
from .factorizations import adjoint, is_complex
from .on_cores import call_either, module_of
from .sorting import replace


def lower_gpu_call(op):
    """Whether it is one, which is replaced."""
    name = ir.StringAttr(op.attributes["call_target_name"]).value
    if name not in CALLS:
        return False
    config = entries(op.attributes["mhlo.backend_config"]) if "mhlo.backend_config" in op.attributes else {}
    CALLS[name](_Call(op), config)
    return True


class _Call:
    def __init__(self, op):
        self.op, self.b, self.given, self.wanted = op, Builder.before(op), list(op.operands), [each.type for each in op.results]

    def lapack(self, real, imaginary, results=None, operands=None, attributes=None):
        """Results of a routine, whose name may be another one for complex matrices."""
        value = self.given[0]
        letter = LETTERS[is_complex(value), str(element_of(value)) in ("f64", "complex<f64>")]
        name = f"lapack_{letter}{imaginary if is_complex(value) else real}_ffi"
        given = {"call_target_name": ir.StringAttr.get(name), "mhlo.backend_config": ir.DictAttr.get(attributes or {})}
        return list(self.b.operation("stablehlo.custom_call", operands or self.given, results or self.wanted, given).results)


LETTERS = {(False, False): "s", (False, True): "d", (True, False): "c", (True, True): "z"}


def _letter(text):
    return ir.IntegerAttr.get(ir.IntegerType.get_unsigned(8), ord(text))


def _holds(config, name):
    return ir.BoolAttr(config[name]).value


def _triangle(config):
    return {"uplo": _letter("L" if _holds(config, "lower") else "U")}


def _as(real, imaginary=None, attributes=lambda config: {}):
    return lambda call, config: replace(call.op, call.lapack(real, imaginary or real, attributes=attributes(config)))


def _singular_values(call, config, second):
    """`second` makes what the call gives beside U of LAPACK's V, transposed."""
    mode = "N" if not _holds(config, "compute_uv") else "A" if _holds(config, "full_matrices") else "S"
    matrix, rows, columns = call.given[0], *shape_of(call.given[0])[-2:]
    batch, least = shape_of(matrix)[:-2], min(rows, columns)
    sides = (rows, columns) if mode == "A" else (least, least)
    u, vt = (tensor_type([*batch, *shape], element_of(matrix)) for shape in ((rows, sides[0]), (sides[1], columns)))
    a, s, info = call.wanted[0], call.wanted[1], call.wanted[4]
    a, s, u, vt, info = call.lapack("gesdd", "gesdd", results=[a, s, u, vt, info], attributes={"mode": _letter(mode)})
    found = [a, s, *second(call.b, u, vt), info]
    if mode == "N":  # Nobody reads them.
        found[2:4] = [call.b.full(list(ir.RankedTensorType(each).shape), 0, element_of(matrix)) for each in call.wanted[2:4]]
    replace(call.op, found)


def _gesvd(call, config):
    turned = "transposed" in config and _holds(config, "transposed")
    _singular_values(call, config, lambda b, u, vt: (vt, u) if turned else (u, vt))


def _gesvdj(call, config):
    _singular_values(call, config, lambda b, u, vt: (u, adjoint(b, vt)))


def _gtsv(call, config):
    lower, middle, upper, side = call.given
    batch = shape_of(side)[:-2]
    info = tensor_type(batch, ir.IntegerType.get_signless(32))
    replace(call.op, [call.lapack("gtsv", "gtsv", results=[*(each.type for each in call.given), info])[3]])


def _pivots_to_permutation(call, config):
    """Row k is exchanged with its pivot, for each k in order."""
    pivots, b, shape = call.given[0], call.b, list(ir.RankedTensorType(call.wanted[0]).shape)
    element, count = element_of(pivots), shape_of(pivots)[-1]
    if has_unknown_sizes(pivots) or 0 in (*shape, count):
        return replace(call.op, [_exchanged(b, pivots, shape)])
    lines = math.prod(shape[:-1])
    given, made = b.reshape(pivots, [lines, 1, count]), [lines, 1, shape[-1]]
    (order,) = call_either(b, module_of(b), "permutation", [given], [tensor_type(made, element)], lambda inner, rows: [_exchanged(inner, *rows, made)],
                           lambda name: on_cores.permutation(name, [lines, 1, count], made), says={"baton.factors": ir.StringAttr.get("permutation")})
    return replace(call.op, [b.reshape(order, shape)])


def _exchanged(b, pivots, shape):
    last = len(shape) - 1

    def at(s, values, place):
        """Of each line of a batch the element in its place."""
        places = s.broadcast(place, s.sizes(values), list(range(last)))
        return s.reduce("add", s.select(s.compare("EQ", s.iota(s.sizes(values), last), places), values, s.like(values, 0)), 0, last)

    def exchange(s, carried):
        k, lines = carried
        first = s.broadcast(k, shape[:-1], [])
        second = at(s, pivots, first)
        here, there = at(s, lines, first), at(s, lines, second)
        is_place = [s.compare("EQ", s.iota(shape, last), s.broadcast(place, shape, list(range(last)))) for place in (first, second)]
        here, there = (s.broadcast(each, shape, list(range(last))) for each in (here, there))
        return [s.add(k, s.scalar(1)), s.select(is_place[0], there, s.select(is_place[1], here, lines))]

    count = shape_of(pivots)[-1]
    return b.loop([b.scalar(0), b.iota(shape, last)], lambda s, values: s.compare("LT", values[0], s.scalar(count)), exchange)[1]


def _with_vectors(config):
    return {"mode": _letter("V"), **_triangle(config)}


CALLS = {
    "cusolver_potrf_ffi": _as("potrf", attributes=_triangle),
    "cusolver_getrf_ffi": _as("getrf"),
    "cublas_getrf_batched_ffi": _as("getrf"),
    "cu_lu_pivots_to_permutation": _pivots_to_permutation,
    "cusolver_geqrf_ffi": _as("geqrf"),
    "cublas_geqrf_batched_ffi": _as("geqrf"),
    "cusolver_orgqr_ffi": _as("orgqr", "ungqr"),
    "cusolver_ormqr_ffi": _as("ormqr", "unmqr", dict),
    "cusolver_syevd_ffi": _as("syevd", "heevd", _with_vectors),
    "cusolver_sytrd_ffi": _as("sytrd", "hetrd", _triangle),
    "cusolver_gesvd_ffi": _gesvd,
    "cusolver_gesdd_ffi": _gesvd,
    "cusolver_gesvdj_ffi": _gesvdj,
    "cusolver_gesvdp_ffi": _gesvdj,
    "cusparse_gtsv2_ffi": _gtsv,
}
