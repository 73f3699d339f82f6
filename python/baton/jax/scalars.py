"""Integers that steer a program, as scalars of the host: counters of loops, conditions, sizes, where slices begin.

StableHLO holds them as tensors without dimensions, each step of which would be a kernel, and each look at it a copy from the
device. Here an integer is followed back to where it comes from: through arithmetic, which is written again on scalars, down to
constants, sizes and what kernels made, which is loaded from its tensor once.
"""
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo

from .build import Builder, element_of, is_integer, shape_of

BINARY = {
    "stablehlo.add": "arith.addi",
    "stablehlo.subtract": "arith.subi",
    "stablehlo.multiply": "arith.muli",
    "stablehlo.minimum": "arith.minsi",
    "stablehlo.maximum": "arith.maxsi",
    "stablehlo.and": "arith.andi",
    "stablehlo.or": "arith.ori",
    "stablehlo.xor": "arith.xori",
}
OTHERS = {"stablehlo.compare", "stablehlo.select", "stablehlo.not", "stablehlo.negate", "stablehlo.convert", "stablehlo.clamp",
          "stablehlo.divide", "stablehlo.remainder", "stablehlo.sign"}
# arith's numbers of the predicates of signed integers.
PREDICATES = {"EQ": 0, "NE": 1, "LT": 2, "LE": 3, "GT": 4, "GE": 5}
UNSIGNED = {"EQ": 0, "NE": 1, "LT": 6, "LE": 7, "GT": 8, "GE": 9}


def is_number(value):
    """A signless integer without dimensions."""
    if not isinstance(value.type, ir.RankedTensorType) or shape_of(value):
        return False
    element = element_of(value)
    return is_integer(element) and element.is_signless


def is_arithmetic(op):
    """Whether the operation on numbers can be written on scalars."""
    if op.name not in BINARY and op.name not in OTHERS:
        return False
    return all(is_number(value) for value in (*op.operands, *op.results))


def owner_of(value):
    """The operation that makes a value; None for arguments of blocks."""
    owner = value.owner
    return None if isinstance(owner, ir.Block) else owner.operation


def entries(tensor):
    """The elements of a tensor of sizes, in order: numbers, and values."""
    op = owner_of(tensor)
    if is_number(tensor) and (op is None or op.name != "stablehlo.constant"):
        return [tensor]
    if op is not None and op.name == "stablehlo.constant":
        values, count = list(ir.DenseIntElementsAttr(op.attributes["value"])), 1
        for size in shape_of(tensor):
            count *= size
        return values * count if len(values) == 1 else values
    is_whole = op is not None and op.name == "stablehlo.concatenate" and (len(op.operands) == 1 or op.attributes["dimension"].value == 0)
    if is_whole or op is not None and op.name == "stablehlo.reshape":
        return [each for operand in op.operands for each in entries(operand)]
    raise NotImplementedError("windows and slices whose sizes a kernel makes are not lowered")


class Scalars:
    """The scalars of one module; each is written once, where its tensor is. Operations that are replaced stay until `erase`, because
    their values are keys here."""

    def __init__(self):
        self.known = {}
        self.replaced = []

    def replace(self, op, values):
        for result, value in zip(op.results, values):
            result.replace_all_uses_with(value)
        self.replaced.append(op)

    def erase(self):
        for op in self.replaced:
            op.erase()
        self.replaced.clear()
        self.known.clear()

    def learn(self, tensor, scalar):
        self.known[tensor] = scalar

    def of(self, tensor):
        """The scalar that a number is."""
        if tensor not in self.known:
            self.known[tensor] = self._made(tensor)
        return self.known[tensor]

    def tensor(self, builder, scalar):
        made = builder.value("tensor.from_elements", [scalar], ir.RankedTensorType.get([], scalar.type))
        self.learn(made, scalar)
        return made

    def vector(self, tensor):
        """The scalars of a vector of sizes."""
        op = owner_of(tensor)
        (count,) = shape_of(tensor)
        if op is not None and op.name == "stablehlo.constant":
            values = list(ir.DenseIntElementsAttr(op.attributes["value"]))
            values = values * count if len(values) == 1 else values
            b = Builder.before(op)
            return [constant(b, each, element_of(tensor)) for each in values]
        if op is not None and op.name == "stablehlo.concatenate":
            return [each for operand in op.operands for each in self.vector(operand)]
        if op is not None and op.name == "stablehlo.reshape" and count == 1 and is_number(op.operands[0]):
            return [self.of(op.operands[0])]
        if op is not None and op.name == "stablehlo.convert" and all(map(_is_signless, (op.operands[0], tensor))):
            b = Builder.before(op)
            return [_converted(b, each, element_of(tensor)) for each in self.vector(op.operands[0])]
        if op is not None and op.name in BINARY and _is_signless(tensor):
            pairs = zip(*(self.vector(each) for each in op.operands))
            return [Builder.before(op).value(BINARY[op.name], pair, element_of(tensor)) for pair in pairs]
        b = _behind(tensor)
        return [b.value("tensor.extract", [tensor, index(b, i)], element_of(tensor)) for i in range(count)]

    def _made(self, tensor):
        op = owner_of(tensor)
        element = element_of(tensor)
        if op is not None:
            b = Builder.before(op)
            if op.name == "stablehlo.constant":
                return constant(b, ir.DenseIntElementsAttr(op.attributes["value"])[0], element)
            if op.name == "tensor.from_elements":
                return op.operands[0]
            if op.name == "stablehlo.get_dimension_size":
                at = index(b, op.attributes["dimension"].value)
                size = b.value("tensor.dim", [op.operands[0], at], ir.IndexType.get())
                return b.value("arith.index_cast", [size], element)
            if op.name == "stablehlo.reshape" and _is_signless(op.operands[0]) and len(shape_of(op.operands[0])) == 1:
                return self.vector(op.operands[0])[0]
            if is_arithmetic(op):
                return self._arithmetic(b, op)
        return _behind(tensor).value("tensor.extract", [tensor], element)

    def _arithmetic(self, b, op):
        operands = [self.of(each) for each in op.operands]
        element = element_of(op.results[0])
        if op.name in BINARY:
            # Of truth values, the larger one is `or`.
            truth = {"arith.addi": "arith.ori", "arith.maxsi": "arith.ori", "arith.muli": "arith.andi", "arith.minsi": "arith.andi"}
            name = BINARY[op.name]
            return b.value(truth.get(name, name) if element.width == 1 else name, operands, element)
        return getattr(self, "_" + op.name.split(".")[1])(b, op, operands, element)

    def _compare(self, b, op, operands, element):
        direction = stablehlo.ComparisonDirectionAttr(op.attributes["comparison_direction"]).value
        table = UNSIGNED if operands[0].type.width == 1 else PREDICATES
        predicate = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), table[direction])
        return b.value("arith.cmpi", operands, element, {"predicate": predicate})

    def _select(self, b, op, operands, element):
        return b.value("arith.select", operands, element)

    def _not(self, b, op, operands, element):
        return b.value("arith.xori", [operands[0], constant(b, -1, element)], element)

    def _negate(self, b, op, operands, element):
        return b.value("arith.subi", [constant(b, 0, element), operands[0]], element)

    def _convert(self, b, op, operands, element):
        if element.width == 1:
            zero = constant(b, 0, operands[0].type)
            return b.value("arith.cmpi", [operands[0], zero], element, {"predicate": ir.IntegerAttr.get(ir.IntegerType.get_signless(64), 1)})
        return _converted(b, operands[0], element)

    def _clamp(self, b, op, operands, element):
        low, value, high = operands
        return b.value("arith.maxsi", [low, b.value("arith.minsi", [value, high], element)], element)

    def _sign(self, b, op, operands, element):
        one, minus = constant(b, 1, element), constant(b, -1, element)
        return b.value("arith.maxsi", [minus, b.value("arith.minsi", [operands[0], one], element)], element)

    def _divide(self, b, op, operands, element):
        return self._division(b, "arith.divsi", operands, element)

    def _remainder(self, b, op, operands, element):
        return self._division(b, "arith.remsi", operands, element)

    def _division(self, b, name, operands, element):
        """The host traps where StableHLO has some number: by 0, and of the smallest by -1."""
        zero, one, minus = (constant(b, each, element) for each in (0, 1, -1))
        a, divisor = operands
        equal = {"predicate": ir.IntegerAttr.get(ir.IntegerType.get_signless(64), 0)}
        truth = ir.IntegerType.get_signless(1)
        by_zero = b.value("arith.cmpi", [divisor, zero], truth, equal)
        by_minus = b.value("arith.cmpi", [divisor, minus], truth, equal)
        odd = b.value("arith.ori", [by_zero, by_minus], truth)
        plain = b.value(name, [a, b.value("arith.select", [odd, one, divisor], element)], element)
        is_division = name == "arith.divsi"
        negative = b.value("arith.subi", [zero, a], element) if is_division else zero
        plain = b.value("arith.select", [by_minus, negative, plain], element)
        return b.value("arith.select", [by_zero, minus if is_division else a, plain], element)


def _is_signless(tensor):
    element = element_of(tensor)
    return is_integer(element) and element.is_signless


def _converted(b, scalar, element):
    if scalar.type == element:
        return scalar
    narrower = element.width < scalar.type.width
    name = "arith.trunci" if narrower else "arith.extui" if scalar.type.width == 1 else "arith.extsi"
    return b.value(name, [scalar], element)


def _behind(value):
    """A builder right behind the place where a value is made."""
    owner = value.owner
    if isinstance(owner, ir.Block):
        return Builder(ir.InsertionPoint.at_block_begin(owner), owner.owner.location)
    return Builder(ir.InsertionPoint.after(owner.operation), owner.operation.location)


def constant(b, number, element):
    return b.value("arith.constant", [], element, {"value": ir.IntegerAttr.get(element, int(number))})


def index(b, number):
    return b.value("arith.constant", [], ir.IndexType.get(), {"value": ir.IntegerAttr.get(ir.IndexType.get(), number)})
