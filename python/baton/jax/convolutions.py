"""Convolutions with unknown sizes, which jaxlib's passes take only in part: one kernel over places, features, and what is summed.

The tensor becomes (batch, places, groups, features) and is padded, the kernel (places, features, groups, new features). Groups of the batch
are groups of features of a smaller batch.
"""
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo

from .build import Builder, element_of, is_integer, shape_of
from .scalars import entries
from .sorting import replace
from .windows_unknown import count_of_windows, padded


def lower_convolution(op, padding=None):
    b, (value, kernel) = Builder.before(op), list(op.operands)[:2]
    numbers = stablehlo.ConvDimensionNumbers(op.attributes["dimension_numbers"])
    element = element_of(op.results[0])
    summed = ir.IntegerType.get_signless(element.width) if is_integer(element) else element
    value = b.transpose(value, [numbers.input_batch_dimension, *numbers.input_spatial_dimensions, numbers.input_feature_dimension])
    kernel = b.transpose(kernel, [*numbers.kernel_spatial_dimensions, numbers.kernel_input_feature_dimension, numbers.kernel_output_feature_dimension])
    made = _convolved(b, Attributes(op, padding), b.convert(value, summed), b.convert(kernel, summed))
    target = [numbers.output_batch_dimension, *numbers.output_spatial_dimensions, numbers.output_feature_dimension]
    made = b.convert(b.transpose(made, [target.index(i) for i in range(len(target))]), element)
    replace(op, [made if made.type == op.results[0].type else b.value("tensor.cast", [made], op.results[0].type)])


def lower_dynamic_convolution(op, module):
    lower_convolution(op, entries(op.operands[2]))
    return True


class Attributes:
    """Of a convolution: strides, what stands between elements and between those of a window, groups, padding."""

    def __init__(self, op, padding=None):
        rank = len(shape_of(op.operands[0])) - 2
        self.strides, self.spread, self.dilations = (self._numbers(op, name, rank) for name in ("window_strides", "lhs_dilation", "rhs_dilation"))
        self.reversed = [i for i, each in enumerate(list(op.attributes["window_reversal"]) if "window_reversal" in op.attributes else []) if each]
        self.groups = op.attributes["feature_group_count"].value
        self.batch_groups = op.attributes["batch_group_count"].value
        if padding is None:
            padding = list(ir.DenseIntElementsAttr(op.attributes["padding"])) if "padding" in op.attributes else [0]
            padding = padding * (2 * rank) if len(padding) == 1 else padding
        self.low, self.high = padding[0::2], padding[1::2]

    @staticmethod
    def _numbers(op, name, rank):
        return list(ir.DenseI64ArrayAttr(op.attributes[name])) if name in op.attributes else [1] * rank


def _convolved(b, how, value, kernel):
    zero = b.scalar(0, element_of(value))
    value = padded(b, value, zero, [0, *how.low, 0], [0, *how.high, 0], [1, *how.spread, 1])
    kernel = b.reverse(kernel, how.reversed) if how.reversed else kernel
    groups = how.groups
    if how.batch_groups > 1:
        value, groups = _batch_groups_as_features(b, value, how.batch_groups), how.batch_groups
    batch, *places, features = b.sizes(value)
    *window, each, made = b.sizes(kernel)
    counts = [count_of_windows(b, *sizes) for sizes in zip(places, window, how.strides, how.dilations)]
    if groups == 1:
        return _summed(b, how, value, kernel, [batch, *counts, made], False)
    value = b.reshape(value, [batch, *places, groups, each])
    parts = _part(b, made, groups)
    kernel = b.reshape(kernel, [*window, each, groups, parts])
    return b.reshape(_summed(b, how, value, kernel, [batch, *counts, groups, parts], True), [batch, *counts, made])


def _part(b, size, groups):
    return size // groups if isinstance(size, int) else b.divide(size, groups)


def _batch_groups_as_features(b, value, groups):
    batch, *places, features = b.sizes(value)
    rank = len(places)
    part = _part(b, batch, groups)
    value = b.reshape(value, [groups, part, *places, features])
    value = b.transpose(value, [1, *range(2, 2 + rank), 0, 2 + rank])
    return b.reshape(value, [part, *places, b.product([groups, features])])


def _summed(b, how, value, kernel, sizes, has_groups):
    """The kernel: loops over batch, places, groups, new features; then over the window and the features that are summed."""
    rank = len(how.strides)
    names = ["batch", *(("place", i) for i in range(rank)), *(["group"] if has_groups else []), "made", *(("window", i) for i in range(rank)), "feature"]
    loop = {name: ir.AffineDimExpr.get(i) for i, name in enumerate(names)}
    groups = [loop["group"]] if has_groups else []
    reads = [loop["place", i] * stride + loop["window", i] * dilation for i, (stride, dilation) in enumerate(zip(how.strides, how.dilations))]
    places = [loop["place", i] for i in range(rank)]
    window = [loop["window", i] for i in range(rank)]
    expressions = ([loop["batch"], *reads, *groups, loop["feature"]], [*window, loop["feature"], *groups, loop["made"]], [loop["batch"], *places, *groups, loop["made"]])
    maps = [ir.AffineMapAttr.get(ir.AffineMap.get(len(names), 0, each)) for each in expressions]
    kinds = ["parallel"] * len(sizes) + ["reduction"] * (rank + 1)
    element = element_of(value)
    first = b.full(sizes, 0, element)
    made = b.operation("linalg.generic", [value, kernel, first], [first.type], {
        "indexing_maps": ir.ArrayAttr.get(maps), "iterator_types": ir.ArrayAttr.get([ir.Attribute.parse(f"#linalg.iterator_type<{each}>") for each in kinds]),
        "operandSegmentSizes": ir.DenseI32ArrayAttr.get([2, 1])}, regions=1)
    block = made.regions[0].blocks.append(element, element, element)
    inner = Builder(ir.InsertionPoint(block), b.location)
    product, total = ("arith.muli", "arith.addi") if is_integer(element) else ("arith.mulf", "arith.addf")
    x, w, before = block.arguments
    inner.operation("linalg.yield", [inner.value(total, [before, inner.value(product, [x, w], element)], element)])
    return made.results[0]
