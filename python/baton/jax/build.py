"""Writes StableHLO operations: shapes are inferred, Python numbers become constants.

A Builder stands at a place in a program; its methods put an operation there and return its value. They are few: what the
lowerings of this package are written in. Where a shape is asked for, an unknown size stands as its value, a tensor of one i32
(`sizes`); operations with such shapes are StableHLO's dynamic ones.
"""
import numpy as np
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo


def shape_of(value):
    return list(ir.RankedTensorType(value.type).shape)


def element_of(value):
    return ir.RankedTensorType(value.type).element_type


def tensor_type(shape, element):
    unknown = ir.ShapedType.get_dynamic_size()
    return ir.RankedTensorType.get([unknown if is_value(size) or size < 0 else size for size in shape], element)


def is_value(size):
    """Whether a size is known only when the program runs."""
    return isinstance(size, ir.Value)


def has_unknown_sizes(*values):
    return any(size < 0 for value in values for size in shape_of(value))


def integers(values):
    return ir.DenseI64ArrayAttr.get([int(value) for value in values])


def is_integer(element):
    return isinstance(element, ir.IntegerType)


class Builder:
    """Puts operations before `before`, or at the end of a block."""

    def __init__(self, point, location):
        self.point, self.location = point, location

    @classmethod
    def before(cls, op):
        return cls(ir.InsertionPoint(op), op.location)

    def operation(self, name, operands=(), results=(), attributes=None, regions=0):
        return ir.Operation.create(name, results=list(results), operands=list(operands), attributes=attributes or {},
                                   regions=regions, loc=self.location, ip=self.point)

    def value(self, name, operands, result, attributes=None):
        return self.operation(name, operands, [result], attributes).results[0]

    # Constants and positions -----------------------------------------------------------------------------------------

    def full(self, shape, number, element):
        if any(map(is_value, shape)):
            return self.broadcast(self.full([], number, element), shape, [])
        if isinstance(element, ir.ComplexType):
            parts = [self.full(shape, each, ir.ComplexType(element).element_type) for each in (number, 0)]
            return self.value("stablehlo.complex", parts, tensor_type(shape, element))
        if is_integer(element):
            attribute = ir.IntegerAttr.get(element, int(number))
        else:
            attribute = ir.FloatAttr.get(element, float(number))
        splat = ir.DenseElementsAttr.get_splat(tensor_type(shape, element), attribute)
        return self.value("stablehlo.constant", [], splat.type, {"value": splat})

    def like(self, value, number):
        return self.full(self.sizes(value), number, element_of(value))

    def scalar(self, number, element=None):
        return self.full([], number, element or ir.IntegerType.get_signless(32))

    def numbers(self, values):
        attribute = ir.DenseElementsAttr.get(np.asarray(values, np.int32))
        return self.value("stablehlo.constant", [], attribute.type, {"value": attribute})

    def iota(self, shape, dimension, element=None):
        made = tensor_type(shape, element or ir.IntegerType.get_signless(32))
        dimension = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), dimension)
        if any(map(is_value, shape)):
            return self.value("stablehlo.dynamic_iota", [self.vector(shape)], made, {"iota_dimension": dimension})
        return self.value("stablehlo.iota", [], made, {"iota_dimension": dimension})

    # Sizes -----------------------------------------------------------------------------------------------------------

    def sizes(self, value):
        """Of a tensor: numbers, and values of those that are unknown."""
        return [self.size(value, i) if size < 0 else size for i, size in enumerate(shape_of(value))]

    def size(self, value, dimension):
        attributes = {"dimension": ir.IntegerAttr.get(ir.IntegerType.get_signless(64), dimension)}
        return self.value("stablehlo.get_dimension_size", [value], tensor_type([], ir.IntegerType.get_signless(32)), attributes)

    def product(self, sizes):
        known, value = 1, None
        for size in sizes:
            if not is_value(size):
                known *= size
            else:
                value = size if value is None else self.multiply(value, size)
        if value is None or known == 0:
            return known
        return value if known == 1 else self.multiply(value, known)

    def difference(self, size, other):
        """Of two sizes, or a size and a number."""
        return self.subtract(self.number(size), self.number(other)) if is_value(size) or is_value(other) else size - other

    def number(self, size):
        """A size, known or not, as a tensor of one i32."""
        return size if is_value(size) else self.scalar(size)

    def vector(self, sizes):
        """The sizes as a tensor, which scalars of the host are read from."""
        if not any(map(is_value, sizes)):
            return self.numbers(sizes)
        return self.concatenate([self.reshape(self.number(size), [1]) for size in sizes], 0)

    def filled(self, size, like):
        """A size, known or not, for each element of a tensor."""
        return self.convert(self.broadcast(size, self.sizes(like), []), element_of(like)) if is_value(size) else self.like(like, size)

    # Element by element ----------------------------------------------------------------------------------------------

    def each(self, name, *operands):
        made = self.operation("stablehlo." + name, operands, [operands[-1].type])
        return made.results[0]

    def add(self, a, b):
        return self.each("add", a, self._same(a, b))

    def subtract(self, a, b):
        return self.each("subtract", a, self._same(a, b))

    def multiply(self, a, b):
        return self.each("multiply", a, self._same(a, b))

    def minimum(self, a, b):
        return self.each("minimum", a, self._same(a, b))

    def maximum(self, a, b):
        return self.each("maximum", a, self._same(a, b))

    def divide(self, a, b):
        return self.each("divide", a, self._same(a, b))

    def both(self, a, b):
        return self.each("and", a, b)

    def either(self, a, b):
        return self.each("or", a, b)

    def negated(self, a):
        return self.each("not", a)

    def compare(self, direction, a, b):
        b = self._same(a, b)
        element = element_of(a)
        unsigned = is_integer(element) and (element.is_unsigned or element.width == 1)
        kind = "UNSIGNED" if unsigned else "SIGNED" if is_integer(element) else "FLOAT"
        attributes = {"comparison_direction": stablehlo.ComparisonDirectionAttr.get(direction),
                      "compare_type": stablehlo.ComparisonTypeAttr.get(kind)}
        made = tensor_type(shape_of(a), ir.IntegerType.get_signless(1))
        return self.value("stablehlo.compare", [a, b], made, attributes)

    def select(self, which, a, b):
        return self.value("stablehlo.select", [which, a, b], a.type)

    def convert(self, a, element):
        return a if element_of(a) == element else self.value("stablehlo.convert", [a], tensor_type(shape_of(a), element))

    def _same(self, a, b):
        return b if isinstance(b, ir.Value) else self.like(a, b)

    # Shapes ----------------------------------------------------------------------------------------------------------

    def reshape(self, a, shape):
        if any(map(is_value, shape)):
            return self.value("stablehlo.dynamic_reshape", [a, self.vector(shape)], tensor_type(shape, element_of(a)))
        return a if shape_of(a) == list(shape) else self.value("stablehlo.reshape", [a], tensor_type(shape, element_of(a)))

    def transpose(self, a, order):
        if list(order) == list(range(len(order))):
            return a
        shape = shape_of(a)
        made = tensor_type([shape[i] for i in order], element_of(a))
        return self.value("stablehlo.transpose", [a], made, {"permutation": integers(order)})

    def reverse(self, a, dimensions):
        return self.value("stablehlo.reverse", [a], a.type, {"dimensions": integers(dimensions)})

    def broadcast(self, a, shape, dimensions):
        made, attributes = tensor_type(shape, element_of(a)), {"broadcast_dimensions": integers(dimensions)}
        if any(map(is_value, shape)):
            return self.value("stablehlo.dynamic_broadcast_in_dim", [a, self.vector(shape)], made, attributes)
        return self.value("stablehlo.broadcast_in_dim", [a], made, attributes)

    def slice(self, a, starts, limits, strides=None):
        strides = strides or [1] * len(starts)
        if any(map(is_value, [*starts, *limits])):
            return self._slice_of_unknown_sizes(a, starts, limits, strides)
        made = tensor_type([-(-(l - s) // t) for s, l, t in zip(starts, limits, strides)], element_of(a))
        attributes = {"start_indices": integers(starts), "limit_indices": integers(limits), "strides": integers(strides)}
        return self.value("stablehlo.slice", [a], made, attributes)

    def _slice_of_unknown_sizes(self, a, starts, limits, strides):
        bounds = [self.vector(each) for each in (starts, limits, strides)]
        shape = [-1 if is_value(s) or is_value(l) else -(-(l - s) // t) for s, l, t in zip(starts, limits, strides)]
        return self.value("stablehlo.real_dynamic_slice", [a, *bounds], tensor_type(shape, element_of(a)))

    def concatenate(self, parts, dimension):
        if len(parts) == 1:
            return parts[0]
        shape = shape_of(parts[0])
        sizes = [shape_of(part)[dimension] for part in parts]
        shape[dimension] = sum(sizes) if min(sizes) >= 0 else ir.ShapedType.get_dynamic_size()
        dimension = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), dimension)
        return self.value("stablehlo.concatenate", parts, tensor_type(shape, element_of(parts[0])), {"dimension": dimension})

    def pad(self, a, number, low, high):
        shape = [size + l + h for size, l, h in zip(shape_of(a), low, high)]
        attributes = {"edge_padding_low": integers(low), "edge_padding_high": integers(high),
                      "interior_padding": integers([0] * len(low))}
        made = tensor_type(shape, element_of(a))
        return self.value("stablehlo.pad", [a, self.scalar(number, element_of(a))], made, attributes)

    # Rows of a matrix, or elements of a vector, by number.
    def take(self, a, rows):
        shape, count = shape_of(a), shape_of(rows)
        numbers = stablehlo.GatherDimensionNumbers.get(
            offset_dims=list(range(len(count), len(count) + len(shape) - 1)), collapsed_slice_dims=[0], operand_batching_dims=[],
            start_indices_batching_dims=[], start_index_map=[0], index_vector_dim=len(count))
        if min(shape[1:], default=0) < 0:
            made = tensor_type(count + shape[1:], element_of(a))
            return self.value("stablehlo.dynamic_gather", [a, rows, self.vector([1, *self.sizes(a)[1:]])], made, {"dimension_numbers": numbers})
        attributes = {"dimension_numbers": numbers, "slice_sizes": integers([1] + shape[1:])}
        return self.value("stablehlo.gather", [a, rows], tensor_type(count + shape[1:], element_of(a)), attributes)

    def dynamic_slice(self, a, starts, sizes):
        made = tensor_type(sizes, element_of(a))
        return self.value("stablehlo.dynamic_slice", [a, *starts], made, {"slice_sizes": integers(sizes)})

    def dynamic_update_slice(self, a, update, starts):
        return self.value("stablehlo.dynamic_update_slice", [a, update, *starts], a.type)

    # Several at once -------------------------------------------------------------------------------------------------

    def reduce(self, name, a, first, dimension):
        """Of one dimension, by the operation `name` from the number `first`."""
        element = element_of(a)
        shape = shape_of(a)
        del shape[dimension]
        op = self.operation("stablehlo.reduce", [a, self.scalar(first, element)], [tensor_type(shape, element)],
                            {"dimensions": integers([dimension])}, regions=1)
        scalar = tensor_type([], element)
        block = op.regions[0].blocks.append(scalar, scalar)
        inner = Builder(ir.InsertionPoint(block), self.location)
        inner.operation("stablehlo.return", [inner.each(name, *block.arguments)])
        return op.results[0]

    def loop(self, carried, condition, body):
        """stablehlo.while; `condition` and `body` get a Builder and the carried values."""
        op = self.operation("stablehlo.while", carried, [value.type for value in carried], regions=2)
        for region, write in zip(op.regions, (lambda b, values: [condition(b, values)], body)):
            block = region.blocks.append(*[value.type for value in carried])
            inner = Builder(ir.InsertionPoint(block), self.location)
            inner.operation("stablehlo.return", write(inner, list(block.arguments)))
        return list(op.results)

    def choose(self, condition, types, *branches):
        """stablehlo.if; the branch where the condition holds, and the other one, get a Builder and give values of the types."""
        op = self.operation("stablehlo.if", [condition], types, regions=2)
        for region, write in zip(op.regions, branches):
            inner = Builder(ir.InsertionPoint(region.blocks.append()), self.location)
            inner.operation("stablehlo.return", write(inner))
        return list(op.results)

    def apply(self, block, arguments, wanted=None):
        """What a region of scalars (a comparator, a combiner) gives for each element of `arguments`, of one shape; or, of its
        values, those that are `wanted`."""
        shape = self.sizes(arguments[0])
        values = dict(zip(block.arguments, arguments))

        def widened(value):
            # What stands outside of the region is a scalar there.
            return values[value] if value in values else self.broadcast(value, shape, [])

        for op in block.operations:
            op = op.operation
            operands = [widened(operand) for operand in op.operands]
            if op.name == "stablehlo.return":
                return operands if wanted is None else [widened(value) for value in wanted]
            attributes = dict(op.attributes.items())
            types = [tensor_type(shape, element_of(result)) for result in op.results]
            if op.name == "stablehlo.constant" and any(map(is_value, shape)):
                values[op.results[0]] = self.broadcast(self.value(op.name, [], op.results[0].type, attributes), shape, [])
                continue
            if op.name == "stablehlo.constant":
                splat = ir.DenseElementsAttr(attributes["value"]).get_splat_value()
                attributes = {"value": ir.DenseElementsAttr.get_splat(types[0], splat)}
            if len(list(op.regions)) or op.name in ("stablehlo.reshape", "stablehlo.broadcast_in_dim") or "call" in op.name:
                raise NotImplementedError(f"{op.name} inside a comparator or combiner is not lowered")
            values.update(zip(op.results, self.operation(op.name, operands, types, attributes).results))
        raise AssertionError("a region without stablehlo.return")
