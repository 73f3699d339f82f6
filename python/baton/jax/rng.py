"""stablehlo.rng, which JAX does not write: numbers of a generator that begins where the operation stands in its program.

They are the same in each call, and in each round of a loop around it.
"""
import math

from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo

from . import lines
from .build import Builder, element_of, has_unknown_sizes, is_integer, shape_of, tensor_type
from .sorting import replace


def lower_rng(op, number):
    if has_unknown_sizes(op.results[0]):
        raise NotImplementedError(lines.said(op, "stablehlo.rng of an unknown size is not lowered"))
    b, (low, high) = Builder.before(op), list(op.operands)[:2]
    shape, element = shape_of(op.results[0]), element_of(op.results[0])
    is_normal = stablehlo.RngDistributionAttr(op.attributes["rng_distribution"]).value == "NORMAL"
    if is_integer(element):
        made = _integers(b, number, shape, low, high)
    else:
        # Halves would be rounded on the way.
        wide = element if isinstance(element, ir.F64Type) else ir.F32Type.get()
        bounds = [b.broadcast(b.convert(each, wide), shape, []) for each in (low, high)]
        made = (_normal if is_normal else _uniform)(b, number, shape, *bounds)
    made = b.convert(made, element)
    if not is_integer(element) and not is_normal:  # What is rounded up to the end is outside.
        begin, end = (b.broadcast(each, shape, []) for each in (low, high))
        made = b.select(b.compare("LT", made, end), made, begin)
    replace(op, [made])


def _bits(b, number, shape, width):
    u64, made = ir.IntegerType.get_unsigned(64), tensor_type(shape, ir.IntegerType.get_unsigned(width))
    state = b.concatenate([b.full([1], number + 1, u64), b.full([1], 0, u64)], 0)
    generator = b.operation("stablehlo.rng_bit_generator", [state], [state.type, made], {"rng_algorithm": stablehlo.RngAlgorithmAttr.get("THREE_FRY")})
    return generator.results[1]


def _integers(b, number, shape, low, high):
    """From the first bound up to the other one, in the 64 bits that hold all of them."""
    bits = _bits(b, number, shape, 64)
    low, high = (b.broadcast(b.convert(each, element_of(bits)), shape, []) for each in (low, high))
    return b.add(low, b.each("remainder", bits, b.subtract(high, low)))


def _units(b, number, shape, element):
    """From 0 up to 1, with as many bits as the type has."""
    width, kept = (64, 53) if isinstance(element, ir.F64Type) else (32, 24)
    bits = _bits(b, number, shape, width)
    return b.multiply(b.convert(b.each("shift_right_logical", bits, b.like(bits, width - kept)), element), 0.5 ** kept)


def _uniform(b, number, shape, low, high):
    return b.add(low, b.multiply(_units(b, number, shape, element_of(low)), b.subtract(high, low)))


def _normal(b, number, shape, mean, deviation):
    """A radius and an angle of two numbers each (Box and Muller)."""
    pairs = _units(b, number, [2, *shape], element_of(mean))
    first, second = (b.reshape(b.slice(pairs, [at, *(0 for _ in shape)], [at + 1, *shape]), shape) for at in (0, 1))
    radius = b.each("sqrt", b.multiply(b.each("log", b.subtract(b.like(first, 1), first)), -2))
    return b.add(mean, b.multiply(deviation, b.multiply(radius, b.each("cosine", b.multiply(second, 2 * math.pi)))))
