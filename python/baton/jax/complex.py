"""Complex numbers as two tensors of floats, of real and of imaginary parts.

At the boundary a complex number of two f32 is one of 64 bits, whose halves the parts are: arguments and results hold i64 with
the complex type as their encoding. One of two f64 has no such word and stays what it is.
"""
import re
import struct

import numpy as np
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo

from . import lines
from .build import Builder, element_of, shape_of, tensor_type
from .complex_functions import FUNCTIONS, is_complex, part_type
from .sizes import zero_sized
from .transforms import transform
from .words import joined_word, split_word

# What moves elements, or takes each part for itself.
BY_PARTS = {"reshape", "transpose", "broadcast_in_dim", "slice", "reverse", "concatenate", "pad", "dynamic_slice", "dynamic_update_slice",
            "gather", "add", "subtract", "negate", "dynamic_broadcast_in_dim", "dynamic_reshape", "dynamic_gather", "dynamic_pad",
            "real_dynamic_slice", "optimization_barrier", "all_gather", "all_to_all",
            "collective_permute", "collective_broadcast"}


# Whose regions take what the operation takes: each complex value becomes two.
WITH_REGIONS = {"while", "case", "if", "reduce_window"}


def has_complex(op):
    return any(is_complex(value.type) for value in (*op.operands, *op.results))


def lower_complex(module, operations, libraries=()):
    """`operations` stand in the order of the program; transforms are commands where `fft` is one of the libraries."""
    if not any(has_complex(op) for op in operations) and not any(_has_complex_arguments(op) for op in operations):
        return
    parts = Parts(module, libraries)
    concerned = [op for op in operations if op.name != "func.func" and has_complex(op)]
    for op in operations:
        if op.name == "func.func" and len(op.regions[0].blocks):  # Commands that are declared have none.
            parts.take_arguments(op)
    for op in concerned:
        if op not in parts.inside:
            parts.lower(op)
    for op in reversed(parts.replaced):
        op.erase()


def _has_complex_arguments(op):
    return op.name == "func.func" and any(is_complex(type_) for type_ in ir.FunctionType(op.attributes["function_type"].value).inputs)


def numbers_of(op):
    """The numbers of a complex constant, from its text: the bindings have no other door to them. One stands for all."""
    body, type_ = op.get_asm().split("dense<", 1)[1].strip().rsplit("> : tensor<", 1)
    shape = shape_of(op.results[0])
    wide = type_.endswith("complex<f64>>")
    if body.startswith('"0x'):
        return np.frombuffer(bytes.fromhex(body[3:-1]), np.complex128 if wide else np.complex64).reshape(shape)
    numbers = [complex(*(_number(each, wide) for each in pair)) for pair in re.findall(r"\(([^(),]+),([^(),]+)\)", body)]
    return np.broadcast_to(np.array(numbers[0] if len(numbers) == 1 else np.reshape(numbers, shape), np.complex128), shape)


def _number(text, wide):
    text = text.strip()
    if not text.startswith("0x"):
        return float(text)
    return struct.unpack(">d" if wide else ">f", bytes.fromhex(text[2:]))[0]


def _refusal(op):
    if op.name != "stablehlo.custom_call":
        return f"{op.name} of complex numbers is not lowered"
    target = ir.StringAttr(op.attributes["call_target_name"]).value
    return f"{op.name} @{target} of complex numbers is not lowered"


class Parts:
    def __init__(self, module, libraries):
        self.module, self.libraries = module, libraries
        self.pairs, self.replaced = {}, []
        self.inside = set()  # Operations of regions that went with their operation.

    # Boundary ------------------------------------------------------------------------------------------------------------

    def take_arguments(self, function):
        made = ir.FunctionType(function.attributes["function_type"].value)
        changed = [self._word(type_) for type_ in made.inputs], [self._word(type_) for type_ in made.results]
        function.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(*changed))
        block = function.regions[0].blocks[0]
        for argument in block.arguments:
            if is_complex(argument.type):
                b = Builder(ir.InsertionPoint.at_block_begin(block), function.location)
                self.pairs[argument] = self._split(b, argument)

    @staticmethod
    def _word(type_):
        if not is_complex(type_) or not isinstance(ir.ComplexType(type_.element_type).element_type, ir.F32Type):
            return type_
        return tensor_type(list(type_.shape), ir.IntegerType.get_signless(64))

    def _split(self, b, argument):
        if self._word(argument.type) == argument.type:
            return tuple(b.value(f"stablehlo.{name}", [argument], part_type(argument.type)) for name in ("real", "imag"))
        argument.set_type(self._word(argument.type))
        return split_word(b, argument)

    @staticmethod
    def _joined(b, pair):
        if isinstance(element_of(pair[0]), ir.F64Type):
            return b.value("stablehlo.complex", pair, tensor_type(shape_of(pair[0]), ir.ComplexType.get(element_of(pair[0]))))
        return joined_word(b, pair)

    # Operations ------------------------------------------------------------------------------------------------------------

    def of(self, value):
        return self.pairs[value]

    def lower(self, op):
        b = Builder.before(op)
        name = op.name.split(".")[1]
        if op.name == "stablehlo.return":
            b.operation(op.name, self._flat(op.operands))
            self.replaced.append(op)
            return
        if op.name == "func.return":
            for i, value in enumerate(list(op.operands)):
                if value in self.pairs:
                    op.operands[i] = self._joined(b, self.of(value))
            return
        if name in WITH_REGIONS:
            self._whole_operation(b, op)
            return
        if not len(op.regions) and all(zero_sized(each.type) for each in op.results):
            self._nothing(b, op)
        elif name in BY_PARTS:
            made = [self._part(b, op, which) for which in (0, 1)]
            for result, pair in zip(op.results, zip(*(each.results for each in made))):
                self.pairs[result] = pair
        elif name in FUNCTIONS or hasattr(self, "_" + name):
            made = FUNCTIONS[name](b, *map(self.of, op.operands)) if name in FUNCTIONS else getattr(self, "_" + name)(b, op)
            if made is None:
                return
            if isinstance(made, tuple):
                self.pairs[op.results[0]] = made
            else:
                op.results[0].replace_all_uses_with(made)
        else:
            raise NotImplementedError(lines.said(op, _refusal(op)))
        self.replaced.append(op)

    def _nothing(self, b, op):
        for each in op.results:
            if is_complex(each.type):
                type_ = part_type(each.type)
                self.pairs[each] = (b.full(list(type_.shape), 0, type_.element_type),) * 2
            else:
                each.replace_all_uses_with(b.full(shape_of(each), 0, element_of(each)))

    def _flat(self, values):
        """Each complex value as its two parts."""
        return [part for value in values for part in (self.pairs[value] if value in self.pairs else (value,))]

    def _whole_operation(self, b, op, in_pairs=False):
        """The same operation on parts. Arguments of its regions become two, neighbours; where the region takes two elements of
        each operand (`in_pairs`), the two real ones stand before the imaginary ones."""
        types = [part for each in op.results for part in ([part_type(each.type)] * 2 if is_complex(each.type) else [each.type])]
        made = b.operation(op.name, self._flat(op.operands), types, dict(op.attributes.items()), regions=len(op.regions))
        for old, new in zip(op.regions, made.regions):
            self._move_block(old.blocks[0], new, in_pairs)
        results = iter(made.results)
        for each in op.results:
            if is_complex(each.type):
                self.pairs[each] = next(results), next(results)
            else:
                each.replace_all_uses_with(next(results))
        self.replaced.append(op)

    def _move_block(self, old, region, in_pairs):
        arguments = list(old.arguments)
        groups = [arguments[i:i + 2] for i in range(0, len(arguments), 2)] if in_pairs else [[each] for each in arguments]
        types = []
        for group in groups:
            whole = is_complex(group[0].type)
            types += [part_type(each.type) if whole else each.type for each in group] * (2 if whole else 1)
        block = ir.Block.create_at_start(region, types)
        new = iter(block.arguments)
        for group in groups:
            taken = [next(new) for _ in group]
            if is_complex(group[0].type):
                for each, pair in zip(group, zip(taken, [next(new) for _ in group])):
                    self.pairs[each] = pair
            else:
                for each, value in zip(group, taken):
                    each.replace_all_uses_with(value)
        for op in list(old.operations):
            block.append(op)

    def _sort(self, b, op):
        self._whole_operation(b, op, in_pairs=True)

    def _scatter(self, b, op):
        """Each part by itself, where the region adds or takes what comes; else one scatter of both parts."""
        body = [each.operation for each in op.regions[0].blocks[0].operations]
        adds = len(body) == 2 and body[0].name in ("stablehlo.add", "stablehlo.subtract")
        if len(op.results) != 1 or not (adds or len(body) == 1):
            return self._whole_operation(b, op)
        self._leave_out(op)
        target, where, updates = op.operands
        parts = []
        for x, y in zip(self.of(target), self.of(updates)):
            parts += self._combining(b, op, [x, where, y], [x.type],
                                     lambda inner, old, new: inner.each(body[0].name.split(".")[1], old, new) if adds else new)
        return tuple(parts)

    def _combining(self, b, op, operands, types, combine):
        """The results of the same operation on parts; its region takes two scalars, of which `combine` makes one."""
        made = b.operation(op.name, operands, types, dict(op.attributes.items()), regions=1)
        scalar = tensor_type([], element_of(operands[0]))
        block = ir.Block.create_at_start(made.regions[0], [scalar, scalar])
        inner = Builder(ir.InsertionPoint(block), op.location)
        inner.operation("stablehlo.return", [combine(inner, *block.arguments)])
        return made.results

    def _all_reduce(self, b, op):
        """Sums, which each part has for itself."""
        body = [each.operation for each in op.regions[0].blocks[0].operations]
        if len(op.operands) != 1 or len(body) != 2 or body[0].name != "stablehlo.add":
            raise NotImplementedError(lines.said(op, f"{op.name} of complex numbers by {body[0].name} is not lowered"))
        self._leave_out(op)
        made = [self._combining(b, op, [part], [part_type(op.results[0].type)], lambda inner, *both: inner.each("add", *both))
                for part in self.of(op.operands[0])]
        return tuple(each[0] for each in made)

    _reduce_scatter = _all_reduce

    def _leave_out(self, op):
        for each in op.regions[0].blocks[0].operations:
            self.inside.add(each.operation)

    def _part(self, b, op, which):
        operands = [self.pairs[each][which] if each in self.pairs else each for each in op.operands]
        types = [part_type(each.type) if is_complex(each.type) else each.type for each in op.results]
        return b.operation(op.name, operands, types, dict(op.attributes.items()))

    def _constant(self, b, op):
        values = numbers_of(op)
        element = ir.ComplexType(element_of(op.results[0])).element_type
        kind = np.float64 if isinstance(element, ir.F64Type) else np.float32
        shape = shape_of(op.results[0])

        def part(numbers):
            attribute = ir.DenseElementsAttr.get(np.ascontiguousarray(numbers, kind).reshape(shape))
            return b.value("stablehlo.constant", [], attribute.type, {"value": attribute})

        return part(values.real), part(values.imag)

    def _iota(self, b, op):
        real = self._part(b, op, 0).results[0]
        return real, b.like(real, 0)

    def _fft(self, b, op):
        return transform(b, op, self.pairs.get(op.operands[0], (op.operands[0], None)), self.module, self.libraries)

    def _get_dimension_size(self, b, op):
        return self._part(b, op, 0).results[0]

    def _complex(self, b, op):
        return op.operands[0], op.operands[1]

    def _real(self, b, op):
        return self.of(op.operands[0])[0]

    def _imag(self, b, op):
        return self.of(op.operands[0])[1]

    def _convert(self, b, op):
        if not is_complex(op.results[0].type):
            return b.convert(self.of(op.operands[0])[0], element_of(op.results[0]))
        element = ir.ComplexType(element_of(op.results[0])).element_type
        if op.operands[0] in self.pairs:
            return tuple(b.convert(each, element) for each in self.of(op.operands[0]))
        real = b.convert(op.operands[0], element)
        return real, b.like(real, 0)

    def _select(self, b, op):
        which, a, c = op.operands
        if not shape_of(which) and shape_of(a):
            which = b.broadcast(which, b.sizes(a), [])
        return tuple(b.select(which, *pair) for pair in zip(self.of(a), self.of(c)))

    def _bitcast_convert(self, b, op):
        """To the same type; between others there is none."""
        return self.of(op.operands[0])

    def _clamp(self, b, op):
        """By the real parts alone, as XLA has it."""
        low, value, high = (self._wide(b, op, each) for each in op.operands)
        above = b.compare("GT", value[0], low[0])
        value = [b.select(above, *both) for both in zip(value, low)]
        beyond = b.compare("LT", high[0], value[0])
        return tuple(b.select(beyond, *both) for both in zip(high, value))

    def _wide(self, b, op, value):
        shape = b.sizes(self.of(op.operands[1])[0])
        return tuple(each if shape_of(value) else b.broadcast(each, shape, []) for each in self.of(value))

    def _compare(self, b, op):
        direction = stablehlo.ComparisonDirectionAttr(op.attributes["comparison_direction"]).value
        (ar, ai), (br, bi) = (self.of(each) for each in op.operands)
        join = b.both if direction == "EQ" else b.either
        return join(b.compare(direction, ar, br), b.compare(direction, ai, bi))

    def _dot_general(self, b, op):
        first, second, *padding = op.operands  # The last of dynamic_conv alone.
        (ar, ai), (br, bi) = self.of(first), self.of(second)
        made, attributes = part_type(op.results[0].type), dict(op.attributes.items())

        def dot(x, y):
            return b.value(op.name, [x, y, *padding], made, attributes)

        return b.subtract(dot(ar, br), dot(ai, bi)), b.add(dot(ar, bi), dot(ai, br))

    _convolution = _dynamic_conv = _dot_general

    def _reduce(self, b, op):
        operations = [each.operation for each in op.regions[0].blocks[0].operations]
        if len(op.results) != 1 or len(operations) != 2 or operations[0].name != "stablehlo.add":
            return self._whole_operation(b, op)
        self._leave_out(op)
        dimensions = sorted(op.attributes["dimensions"], reverse=True)
        values, first = (self.of(each) for each in op.operands)
        made = []
        for value, start in zip(values, first):
            for dimension in dimensions:
                value = b.reduce("add", value, 0, dimension)
            made.append(b.add(value, b.broadcast(start, b.sizes(value), [])))
        return tuple(made)
