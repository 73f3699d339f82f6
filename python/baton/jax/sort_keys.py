"""Comparators of stablehlo.sort as integers: what a comparator compares, as numbers whose order is the order that it makes.

A comparator compares its operands by one expression of each side, then, where these are equal, by another one:

    or(f(left) < f(right), and(f(left) == f(right), or(g(left) < g(right), ...)))

Each such expression becomes a key: an integer of at most 32 bits, least first. A key of 64 bits becomes two. Other comparators
have no keys.
"""
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo

from .build import element_of, is_integer, shape_of

FLOATS = {"f16": 16, "bf16": 16, "f32": 32, "f64": 64}


def keys_of(b, block, rows):
    """Pairs of a signed integer tensor and the bits that its numbers need, the first one counts most; None for other comparators."""
    terms = _Comparator(block).terms()
    if terms is None:
        return None
    values = b.apply(block, [row for row in rows for _ in range(2)], [value for value, _ in terms])
    return [key for value, (_, is_descending) in zip(values, terms) for key in _integers(b, value, is_descending)]


class _Comparator:
    def __init__(self, block):
        self.block = block
        # Arguments stand in pairs, left and right.
        self.places = {argument: i for i, argument in enumerate(block.arguments)}

    def terms(self):
        """What is compared, in order, each with whether greater ones come first."""
        returned = [op.operation for op in self.block.operations][-1].operands[0]
        terms, rest = [], returned
        while rest is not None:
            head = self._ordered(rest)
            if head is not None:
                return terms + [head]
            split = self._split(rest)
            if split is None:
                return None
            term, rest = split
            terms.append(term)
        return None

    def _split(self, value):
        """`or(compare, and(equal, rest))`, in any order of the operands."""
        for first, second in _both_ways(value, "stablehlo.or"):
            term = self._ordered(first)
            for equal, rest in _both_ways(second, "stablehlo.and") if term else ():
                if self._is_equal(equal, term[0]):
                    return term, rest
        return None

    def _ordered(self, value):
        """The left side of a comparison of one expression of both sides, and whether greater ones come first."""
        op = _op_of(value, "stablehlo.compare")
        direction = op and stablehlo.ComparisonDirectionAttr(op.attributes["comparison_direction"]).value
        if direction not in ("LT", "GT") or not self._is_total(op):
            return None
        a, b = op.operands
        sides = self._sides(a)
        if sides not in ({0}, {1}) or not self._mirrors(a, b):
            return None
        return (a, direction == "GT") if sides == {0} else (b, direction == "LT")

    def _is_equal(self, value, left):
        op = _op_of(value, "stablehlo.compare")
        if not op or stablehlo.ComparisonDirectionAttr(op.attributes["comparison_direction"]).value != "EQ" or not self._is_total(op):
            return False
        a, b = op.operands
        return self._mirrors(a, b) and (self._same(a, left) or self._same(b, left))

    def _is_total(self, op):
        """Of floats only the total order is one of their bits; what compares numbers that are none is no order."""
        element = element_of(op.operands[0])
        if is_integer(element):
            return element.width in (1, 8, 16, 32, 64)
        kind = op.attributes["compare_type"] if "compare_type" in op.attributes else None
        return str(element) in FLOATS and kind is not None and stablehlo.ComparisonTypeAttr(kind).value == "TOTALORDER"

    def _sides(self, value):
        """Which of the two elements an expression reads: 0 the left one, 1 the right one."""
        if value in self.places:
            return {self.places[value] % 2}
        if not self._is_inside(value):
            return set()
        return set().union(*(self._sides(operand) for operand in value.owner.operands))

    def _is_inside(self, value):
        return isinstance(value.owner, (ir.Operation, ir.OpView)) and value.owner.operation.block == self.block

    def _mirrors(self, a, b):
        """Whether `b` is of the one element what `a` is of the other."""
        return self._alike(a, b, lambda i, j: i == j ^ 1)

    def _same(self, a, b):
        return self._alike(a, b, lambda i, j: i == j)

    def _alike(self, a, b, places):
        if a in self.places or b in self.places:
            return a in self.places and b in self.places and places(self.places[a], self.places[b])
        if not self._is_inside(a) or not self._is_inside(b):
            return a == b
        one, two = a.owner.operation, b.owner.operation
        return (one.name == two.name and len(one.results) == 1 and not len(one.regions) and dict(one.attributes.items()) == dict(two.attributes.items())
                and a.type == b.type and len(one.operands) == len(two.operands)
                and all(self._alike(*pair, places) for pair in zip(one.operands, two.operands)))


def _op_of(value, name):
    owner = value.owner
    if isinstance(owner, ir.OpView):
        owner = owner.operation
    return owner if isinstance(owner, ir.Operation) and owner.name == name else None


def _both_ways(value, name):
    op = _op_of(value, name)
    return [tuple(op.operands), tuple(op.operands)[::-1]] if op else []


def _integers(b, value, is_descending):
    """Signed integers in the order of `value`."""
    element = element_of(value)
    if is_integer(element):
        bits, number = element.width, _signed(b, value)
    else:
        bits = FLOATS[str(element)]
        number = _bits_in_order(b, value, ir.IntegerType.get_signless(bits))
    number = b.negated(number) if is_descending else number
    i32 = ir.IntegerType.get_signless(32)
    if bits < 64:
        # An i1 is 0 or 1, and what is not is -1 or -2: a bit more than it has.
        return [(b.convert(number, i32), max(bits, 2))]
    low = b.each("xor", b.convert(number, i32), b.full(b.sizes(number), -(1 << 31), i32))
    high = b.each("shift_right_arithmetic", number, b.like(number, 32))
    return [(b.convert(high, i32), 32), (low, 32)]


def _signed(b, value):
    """Integers below 32 bits in 32 of them; unsigned ones moved by half of their range."""
    element = element_of(value)
    wide = ir.IntegerType.get_signless(64 if element.width == 64 else 32)
    if not element.is_unsigned:
        return b.convert(value, wide)
    half = 1 << (element.width - 1)
    moved = b.convert(value, wide)
    if element.width == wide.width:
        return b.each("xor", moved, b.full(b.sizes(moved), -half, wide))
    return b.subtract(moved, half)


def _bits_in_order(b, value, kind):
    """IEEE's total order: the bits of negative numbers count backwards."""
    bits = b.value("stablehlo.bitcast_convert", [value], ir.RankedTensorType.get(shape_of(value), kind))
    turned = b.each("xor", bits, b.like(bits, (1 << (kind.width - 1)) - 1))
    return b.select(b.compare("LT", bits, 0), turned, bits)
