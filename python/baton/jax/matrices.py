"""Parts of the matrices in a tensor's last two dimensions, and numbers of theirs."""
import numpy as np
from jaxlib.mlir import ir

from .build import element_of, shape_of, tensor_type
from .factorizations import adjoint, divided, is_complex, part, real, with_zero


def rows_of(b, a, start, end):
    shape = shape_of(a)
    return b.slice(a, [0] * (len(shape) - 2) + [start, 0], shape[:-2] + [end, shape[-1]])


def columns_of(b, a, start, end):
    shape = shape_of(a)
    return b.slice(a, [0] * (len(shape) - 1) + [start], shape[:-1] + [end])


def is_diagonal(b, a):
    rank = len(shape_of(a))
    return b.compare("EQ", b.iota(shape_of(a), rank - 2), b.iota(shape_of(a), rank - 1))


def mirrored(b, a, lower):
    """The symmetric matrix of which one triangle is given; its diagonal is real."""
    rank = len(shape_of(a))
    rows, columns = b.iota(shape_of(a), rank - 2), b.iota(shape_of(a), rank - 1)
    full = b.select(b.compare("GE" if lower else "LE", rows, columns), a, adjoint(b, a))
    return b.select(b.compare("EQ", rows, columns), with_zero(b, real(b, full), full), full)


def scaled(b, a):
    """The matrix with its largest number between 1 and 2, and the power of two that it was divided by."""
    sizes = b.each("abs", a) if not is_complex(a) else b.maximum(*(b.each("abs", part(b, name, a)) for name in ("real", "imag")))
    largest = b.reduce("maximum", b.reduce("maximum", sizes, 0, len(shape_of(a)) - 1), 0, len(shape_of(a)) - 2)
    width, mask = (64, 0x7FF << 52) if isinstance(element_of(largest), ir.F64Type) else (32, 0xFF << 23)
    bits = b.value("stablehlo.bitcast_convert", [largest], tensor_type(shape_of(largest), ir.IntegerType.get_signless(width)))
    power = b.value("stablehlo.bitcast_convert", [b.both(bits, b.like(bits, mask))], largest.type)
    scale = b.select(b.compare("GT", power, 0), power, b.like(power, 1))
    return divided(b, a, along(b, scale, shape_of(a), 0)), scale


def precision(value):
    return float(np.finfo(np.float64 if isinstance(element_of(value), ir.F64Type) else np.float32).eps)


def squares_of(b, a):
    if not is_complex(a):
        return b.multiply(a, a)
    return b.add(*(b.multiply(each, each) for each in (part(b, name, a) for name in ("real", "imag"))))


def sum_over(b, a, dimension):
    return b.reduce("add", a, 0, len(shape_of(a)) + dimension)


def along(b, values, shape, last):
    """For each matrix, or vector, of `shape` one value; with `last`, one for each of its columns."""
    batch = len(shape_of(values)) - last
    return b.broadcast(values, shape, [*range(batch), *[len(shape) - 1] * last])
