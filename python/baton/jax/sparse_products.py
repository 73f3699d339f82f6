"""Products with a matrix that is known before the program runs and almost empty, as JAX writes the scaling of images: each element of the
result is a sum of a few elements, which are read where a table says.

A product of zero and what is no number (infinite, or NaN) is NaN, and the zeros that are left out would have made it. So those of a line are
counted, and where a sum has read fewer, it is NaN.
"""
import numpy as np
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo

from .build import Builder, element_of, has_unknown_sizes, integers, is_integer, shape_of, tensor_type
from .convolutions import Attributes
from .gathering import compared, generated
from .known_values import KnownValues
from .scalars import UNSIGNED, index
from .sorting import replace

TERMS_MAX = 16  # Of a sum that is written out.
WORK_LESS = 4  # So many times less than the product is worth a table.
GREATER, UNEQUAL = 2, 13  # arith's numbers of predicates of floats; NaN is greater than nothing, and unequal to all.


def lower_sparse_products(operations):
    lower = {"stablehlo.dot_general": _lower, "stablehlo.convolution": _lower_convolution}
    products = [op for op in operations if op.name in lower]
    known = KnownValues(operations) if products else None
    for op in products:
        lower[op.name](op, known)


def _lower(op, known):
    numbers = stablehlo.DotDimensionNumbers(op.attributes["dot_dimension_numbers"])
    summed = (list(numbers.lhs_contracting_dimensions), list(numbers.rhs_contracting_dimensions))
    if list(numbers.lhs_batching_dimensions) or len(summed[0]) != 1 or has_unknown_sizes(*op.operands):
        return
    if not _is_of_floats(op):
        return
    for side in (0, 1):
        matrix = known.array(op.operands[side])
        if matrix is None or matrix.ndim < 2:
            continue
        lines = np.moveaxis(matrix, summed[side][0], 0)
        terms = _terms(lines.reshape(lines.shape[0], -1))
        if terms is not None:
            _write(op, side, list(lines.shape[1:]), summed[1 - side][0], *terms)
            return


def _sum_type(op):
    """Sums of halves are f32 until they are written."""
    element = element_of(op.results[0])
    return element if element.width >= 32 else ir.F32Type.get()


def _is_of_floats(op):
    """Of which there are some."""
    return not any(is_integer(element_of(each)) or 0 in shape_of(each) for each in (*op.operands, *op.results))


def _terms(matrix):
    """For each column of the matrix the rows of its numbers, and these, [terms, columns]; None where they are too many. Rows that follow
    each other where that is as good."""
    is_number = matrix != 0
    size, count = matrix.shape[0], max(1, int(is_number.sum(0).max()))
    first, last = is_number.argmax(0), size - 1 - is_number[::-1].argmax(0)
    span = int(np.where(is_number.any(0), last - first + 1, 1).max())
    if span <= count + 1:
        count = span
        rows = np.minimum(first, size - count) + np.arange(count)[:, None]
    else:  # Those with numbers, then some with zeros.
        rows = np.argsort(~is_number, axis=0, kind="stable")[:count]
    if count > TERMS_MAX or count * WORK_LESS > size:
        return None
    return rows.astype(np.int32), np.take_along_axis(matrix, rows, 0)


def _write(op, side, made_sizes, summed, rows, weights):
    b = Builder.before(op)
    x, order = _untransposed(op.operands[1 - side])
    summed = order[summed]
    made = b.convert(_summed(b, x, _sum_type(op), summed, rows, weights), element_of(op.results[0]))
    # The matrix' own dimensions stand before the other operand's, or behind.
    rest = [i for i in order if i != summed]
    order = [summed, *rest] if side == 0 else [*rest, summed]
    for use in list(op.results[0].uses):
        if use.owner.operation.name == "stablehlo.transpose" and len(made_sizes) == 1:
            then = list(ir.DenseI64ArrayAttr(use.owner.operation.attributes["permutation"]))
            replace(use.owner.operation, [b.transpose(made, [order[i] for i in then])])
    replace(op, [b.reshape(b.transpose(made, order), shape_of(op.results[0]))])


def _untransposed(x):
    """What a transpose reads, and for each dimension of `x` which one of it that is."""
    owner = x.owner
    if isinstance(owner, ir.Block) or owner.name != "stablehlo.transpose":
        return x, list(range(len(shape_of(x))))
    return owner.operands[0], list(ir.DenseI64ArrayAttr(owner.attributes["permutation"]))


def _summed(b, x, kind, summed, rows, weights):
    """`x` with sums of its numbers along one dimension, in `kind`."""
    sizes, rank = shape_of(x), len(shape_of(x))
    sizes[summed] = rows.shape[1]
    strange = b.reduce("add", _strange(b, x, kind), 0, summed)
    is_run = (rows == rows[:1] + np.arange(len(rows))[:, None]).all()
    tables = [b.numbers(each) for each in (rows[:1] if is_run else rows)]
    factors = [_floats(b, each, kind) for each in weights]
    line, rest = [summed], [i for i in range(rank) if i != summed]

    def element(inner, places, *arguments):
        strange, *begins = arguments[:1 + len(tables)]
        total = found = _number(inner, 0, kind)
        for term, factor in enumerate(arguments[1 + len(tables):]):
            row = inner.value("arith.index_cast", [begins[0 if is_run else term]], ir.IndexType.get())
            places[summed] = inner.value("arith.addi", [row, index(inner, term)], ir.IndexType.get()) if is_run and term else row
            read = _read(inner, x, places, kind)
            total = inner.value("arith.addf", [total, inner.value("arith.mulf", [read, factor], kind)], kind)
            found = inner.value("arith.addf", [found, _is_strange(inner, read, kind)], kind)
        return _or_nan(inner, total, strange, found, kind)

    return generated(b, tensor_type(sizes, kind), (), element, [(strange, rest), *((each, line) for each in (*tables, *factors))])


def _strange(b, x, kind):
    """1 for each element that is no number, or infinite, 0 for the others."""
    x = b.convert(x, kind)
    return b.convert(b.compare("NE", b.subtract(x, x), 0), kind)


def _is_strange(inner, read, kind):
    difference = inner.value("arith.subf", [read, read], kind)
    is_strange = compared(inner, UNEQUAL, difference, _number(inner, 0, kind), "arith.cmpf")
    return inner.value("arith.select", [is_strange, _number(inner, 1, kind), _number(inner, 0, kind)], kind)


def _or_nan(inner, total, strange, found, kind):
    """NaN where there are more strange ones than were found."""
    has_more = compared(inner, GREATER, strange, found, "arith.cmpf")
    return inner.value("arith.select", [has_more, _number(inner, float("nan"), kind), total], kind)


def _number(inner, number, kind):
    return inner.value("arith.constant", [], kind, {"value": ir.FloatAttr.get(kind, number)})


def _read(inner, x, places, kind):
    read = inner.value("tensor.extract", [x, *places], element_of(x))
    return read if element_of(x) == kind else inner.value("arith.extf", [read], kind)


# Convolutions whose windows give one element each, as im2col does ---------------------------------------------------------


def _lower_convolution(op, known):
    kernel = known.array(op.operands[1]) if not has_unknown_sizes(*op.operands) and _is_of_floats(op) else None
    if kernel is None:
        return
    how = Attributes(op)
    if how.batch_groups > 1 or any(each != 1 for each in how.spread):
        return
    numbers = stablehlo.ConvDimensionNumbers(op.attributes["dimension_numbers"])
    kernel = np.transpose(kernel, [numbers.kernel_output_feature_dimension, numbers.kernel_input_feature_dimension, *numbers.kernel_spatial_dimensions])
    kernel = np.flip(kernel, [2 + i for i in how.reversed])
    made, each, *window = kernel.shape
    flat = kernel.reshape(made, -1)
    if flat.shape[1] < WORK_LESS or (flat != 0).sum(1).max() > 1:
        return
    feature, *offsets = np.unravel_index((flat != 0).argmax(1), kernel.shape[1:])
    feature = feature + np.arange(made) // (made // how.groups) * each
    _write_taken(op, how, numbers, window, each, feature, offsets, flat[np.arange(made), (flat != 0).argmax(1)])


def _write_taken(op, how, numbers, window, each, feature, offsets, factors):
    """Each feature of the result takes an element of the window that begins `offsets` of it further, times its factor."""
    b, x, sizes = Builder.before(op), op.operands[0], shape_of(op.results[0])
    kind = _sum_type(op)
    strange = _summed_over_windows(b, _strange(b, x, kind), how, numbers, window, each)
    moves = [b.numbers(offset * dilation - low) for offset, dilation, low in zip(offsets, how.dilations, how.low)]
    operands = [b.numbers(feature), _floats(b, factors, kind), *moves]
    type_ = ir.IndexType.get()

    def element_at(inner, places, taken, factor, *moves):
        source, window_at, inside = [None] * len(sizes), [None] * len(sizes), None
        taken = inner.value("arith.index_cast", [taken], type_)
        source[numbers.input_feature_dimension] = taken
        window_at[numbers.input_feature_dimension] = inner.value("arith.divui", [taken, index(inner, each)], type_)
        for at in (source, window_at):
            at[numbers.input_batch_dimension] = places[numbers.output_batch_dimension]
        for axis, (dimension, target) in enumerate(zip(numbers.input_spatial_dimensions, numbers.output_spatial_dimensions)):
            window_at[dimension] = places[target]
            begin = inner.value("arith.muli", [places[target], index(inner, how.strides[axis])], type_)
            source[dimension] = inner.value("arith.addi", [begin, inner.value("arith.index_cast", [moves[axis]], type_)], type_)
            if how.low[axis] > 0 or how.high[axis] > 0:  # Below 0 is beyond any size where there is no sign.
                is_there = compared(inner, UNSIGNED["LT"], source[dimension], index(inner, shape_of(x)[dimension]))
                inside = is_there if inside is None else inner.value("arith.andi", [inside, is_there], is_there.type)
        read = _read(inner, x, source, kind)
        if inside is not None:
            read = inner.value("arith.select", [inside, read, _number(inner, 0, kind)], kind)
        made = inner.value("arith.mulf", [read, factor], kind)
        return _or_nan(inner, made, _read(inner, strange, window_at, kind), _is_strange(inner, read, kind), kind)

    made = generated(b, tensor_type(sizes, kind), (), element_at, [(each, [numbers.output_feature_dimension]) for each in operands])
    replace(op, [b.convert(made, element_of(op.results[0]))])


def _summed_over_windows(b, x, how, numbers, window, each):
    """Sums over windows and the features of a group."""
    feature, shape = numbers.input_feature_dimension, shape_of(x)
    x = b.reshape(x, [*shape[:feature], how.groups, each, *shape[feature + 1:]])
    x = b.reduce("add", x, 0, feature + 1)
    rank = len(shape)
    sizes, strides, dilations = ([1] * rank for _ in range(3))
    padding = np.zeros((rank, 2), np.int64)
    for axis, dimension in enumerate(numbers.input_spatial_dimensions):
        sizes[dimension], strides[dimension], dilations[dimension] = window[axis], how.strides[axis], how.dilations[axis]
        padding[dimension] = how.low[axis], how.high[axis]
    made = [(size + sum(around) - (width - 1) * dilation - 1) // stride + 1
            for size, around, width, dilation, stride in zip(shape_of(x), padding, sizes, dilations, strides)]
    element = element_of(x)
    op = b.operation("stablehlo.reduce_window", [x, b.scalar(0, element)], [tensor_type([int(size) for size in made], element)], {
        "window_dimensions": integers(sizes), "window_strides": integers(strides), "window_dilations": integers(dilations),
        "padding": ir.DenseElementsAttr.get(padding)}, regions=1)
    scalar = tensor_type([], element)
    inner = Builder(ir.InsertionPoint(op.regions[0].blocks.append(scalar, scalar)), b.location)
    inner.operation("stablehlo.return", [inner.each("add", *op.regions[0].blocks[0].arguments)])
    return op.results[0]


def _floats(b, numbers, kind):
    attribute = ir.DenseElementsAttr.get(np.ascontiguousarray(numbers, np.float64 if isinstance(kind, ir.F64Type) else np.float32))
    return b.value("stablehlo.constant", [], attribute.type, {"value": attribute})
