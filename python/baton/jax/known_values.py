"""Tensors that a program makes of constants and places alone, as NumPy arrays: matrices of weights above all, which JAX writes as
arithmetic on iotas. Nothing is evaluated but what somebody asks for.
"""
import ml_dtypes
import numpy as np
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo

from .build import element_of, is_integer, shape_of

ELEMENTS_MAX = 1 << 22  # Of one tensor.
STEPS_MAX = 500  # Operations behind one value.

BINARY = {
    "add": np.add, "subtract": np.subtract, "multiply": np.multiply, "maximum": np.maximum, "minimum": np.minimum, "and": np.bitwise_and,
    "or": np.bitwise_or, "xor": np.bitwise_xor, "power": np.power,
}
UNARY = {
    "abs": np.abs, "negate": np.negative, "floor": np.floor, "ceil": np.ceil, "sign": np.sign, "sqrt": np.sqrt, "exponential": np.exp,
    "log": np.log, "sine": np.sin, "cosine": np.cos, "not": np.invert,
}
COMPARE = {"EQ": np.equal, "NE": np.not_equal, "LT": np.less, "LE": np.less_equal, "GT": np.greater, "GE": np.greater_equal}
REDUCTIONS = {"stablehlo.add": np.add, "stablehlo.maximum": np.maximum, "stablehlo.minimum": np.minimum, "stablehlo.multiply": np.multiply}
FLOATS = {"f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32, "f64": np.float64}


class KnownValues:
    """Of the operations given, in the order in which they run. What is known is so before anything is rewritten."""

    def __init__(self, operations):
        self._place, self._arrays = {}, {}
        for number, op in enumerate(operations):
            if op.name in EVALUATE and len(op.results) == 1 and _kind(op.results[0]) and all(each in self._place for each in op.operands):
                self._place[op.results[0]] = number

    def array(self, value):
        """None where it is not known, or too much work."""
        if value not in self._place:
            return None
        todo, needed = [value], set()
        while todo:
            one = todo.pop()
            if one in needed or one in self._arrays:
                continue
            needed.add(one)
            if len(needed) > STEPS_MAX:
                return None
            todo.extend(one.owner.operands)
        for one in sorted(needed, key=self._place.get):
            made = self._evaluated(one)
            if made is None:
                return None
            self._arrays[one] = made
        return self._arrays[value]

    def _evaluated(self, value):
        with np.errstate(all="ignore"):
            made = EVALUATE[value.owner.name](value.owner, *(self._arrays[each] for each in value.owner.operands))
        kind = _kind(value)
        return None if made is None else np.asarray(made).astype(kind, copy=False).reshape(shape_of(value))


def _kind(value):
    """NumPy's type for the elements; None for tensors that are not evaluated."""
    if not isinstance(value.type, ir.RankedTensorType):
        return None
    shape = shape_of(value)
    if min(shape, default=0) < 0 or int(np.prod(shape)) > ELEMENTS_MAX:
        return None
    element = element_of(value)
    if not is_integer(element):
        return FLOATS.get(str(element))
    if element.width == 1:
        return np.bool_
    if element.width not in (8, 16, 32, 64):
        return None
    return np.dtype(f"{'u' if element.is_unsigned else 'i'}{element.width // 8}")


def _constant(op):
    try:
        elements = ir.DenseElementsAttr(op.attributes["value"])
        if not elements.is_splat:
            return np.array(elements)
    except (ValueError, TypeError, BufferError):  # Kept elsewhere, or of a type that NumPy hasn't.
        return None
    splat = elements.get_splat_value()
    number = (ir.IntegerAttr if is_integer(element_of(op.results[0])) else ir.FloatAttr)(splat).value
    return np.full(shape_of(op.results[0]), number, _kind(op.results[0]))


def _iota(op):
    shape, dimension = shape_of(op.results[0]), op.attributes["iota_dimension"].value
    places = np.arange(shape[dimension], dtype=_kind(op.results[0]))
    return np.broadcast_to(places.reshape([-1 if i == dimension else 1 for i in range(len(shape))]), shape)


def _broadcast(op, a):
    shape = shape_of(op.results[0])
    places = list(ir.DenseI64ArrayAttr(op.attributes["broadcast_dimensions"]))
    wide = [1] * len(shape)
    for size, place in zip(a.shape, places):
        wide[place] = size
    order = np.argsort(places)
    return np.broadcast_to(np.transpose(a, order).reshape(wide), shape)


def _convert(op, a):
    kind = _kind(op.results[0])
    if a.dtype.kind == "f" and np.dtype(kind).kind in "iu" and not (np.isfinite(a).all() and (np.abs(a) < 2**31).all() and a.min(initial=0) >= 0):
        return None  # What a number outside becomes, who computes says.
    return a != 0 if kind == np.bool_ else a.astype(kind)


def _compare(op, a, b):
    return COMPARE[stablehlo.ComparisonDirectionAttr(op.attributes["comparison_direction"]).value](a, b)


def _divide(op, a, b):
    if a.dtype.kind == "f":
        return a / b
    return None if (b <= 0).any() or (a < 0).any() else a // b


def _slice(op, a):
    begin, end, step = (list(ir.DenseI64ArrayAttr(op.attributes[name])) for name in ("start_indices", "limit_indices", "strides"))
    return a[tuple(map(slice, begin, end, step))]


def _reduce(op, a, first):
    if len(op.operands) != 2:
        return None
    inside = list(op.regions[0].blocks[0].operations)
    combiner = REDUCTIONS.get(inside[0].operation.name) if len(inside) == 2 else None
    if combiner is None or set(inside[0].operands) != set(op.regions[0].blocks[0].arguments):
        return None
    if not a.size:
        return np.broadcast_to(first, shape_of(op.results[0]))
    return combiner(combiner.reduce(a, axis=tuple(ir.DenseI64ArrayAttr(op.attributes["dimensions"]))), first)


EVALUATE = {
    **{f"stablehlo.{name}": lambda op, a, b, f=function: f(a, b) for name, function in BINARY.items()},
    **{f"stablehlo.{name}": lambda op, a, f=function: f(a) for name, function in UNARY.items()},
    "stablehlo.constant": _constant,
    "stablehlo.iota": _iota,
    "stablehlo.broadcast_in_dim": _broadcast,
    "stablehlo.convert": _convert,
    "stablehlo.compare": _compare,
    "stablehlo.divide": _divide,
    "stablehlo.select": lambda op, which, a, b: np.where(which, a, b),
    "stablehlo.clamp": lambda op, low, a, high: np.minimum(np.maximum(a, low), high),
    "stablehlo.reshape": lambda op, a: a,
    "stablehlo.transpose": lambda op, a: np.transpose(a, list(ir.DenseI64ArrayAttr(op.attributes["permutation"]))),
    "stablehlo.reverse": lambda op, a: np.flip(a, list(ir.DenseI64ArrayAttr(op.attributes["dimensions"]))),
    "stablehlo.slice": _slice,
    "stablehlo.concatenate": lambda op, *parts: np.concatenate(parts, op.attributes["dimension"].value),
    "stablehlo.reduce": _reduce,
}
