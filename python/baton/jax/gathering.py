"""stablehlo.dynamic_gather and dynamic_pad: slices, and what stands around a tensor, whose sizes are values of the host.

One slice is a part of the tensor, and no work. Several are one kernel: each element of the result finds its slice's begin among
the indices, moves it so that the slice ends inside, as StableHLO says, and reads one element.
"""
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo

from .build import Builder, element_of, shape_of, tensor_type
from .scalars import index


def lower_dynamic_gather(op, scalars):
    numbers = stablehlo.GatherDimensionNumbers(op.attributes["dimension_numbers"])
    value, indices, wanted = op.operands
    b = Builder.before(op)
    sizes = [b.value("arith.index_cast", [each], ir.IndexType.get()) for each in scalars.vector(wanted)]
    is_one_slice = len(shape_of(indices)) == 1 and not list(numbers.collapsed_slice_dims) and not list(numbers.operand_batching_dims)
    made = _one_slice(b, value, indices, sizes, numbers, scalars) if is_one_slice else _slices(b, op, value, indices, sizes, numbers)
    scalars.replace(op, [made if made.type == op.results[0].type else b.value("tensor.cast", [made], op.results[0].type)])


def _one_slice(b, value, indices, sizes, numbers, scalars):
    offsets = [index(b, 0)] * len(sizes)
    for dimension, start in zip(numbers.start_index_map, scalars.vector(indices)):
        start = b.value("arith.index_cast", [start], ir.IndexType.get())
        offsets[dimension] = moved_inside(b, start, size_of(b, value, dimension), sizes[dimension])
    rank, unknown = len(sizes), ir.ShapedType.get_dynamic_size()
    attributes = {"static_offsets": ir.DenseI64ArrayAttr.get([unknown] * rank), "static_sizes": ir.DenseI64ArrayAttr.get([unknown] * rank),
                  "static_strides": ir.DenseI64ArrayAttr.get([1] * rank), "operandSegmentSizes": ir.DenseI32ArrayAttr.get([1, rank, rank, 0])}
    return b.value("tensor.extract_slice", [value, *offsets, *sizes], tensor_type([unknown] * rank, element_of(value)), attributes)


def _slices(b, op, value, indices, sizes, numbers):
    result = op.results[0]
    rank, vector = len(shape_of(result)), numbers.index_vector_dim
    indices = b.convert(indices, ir.IntegerType.get_signless(64))
    offset_dims = list(numbers.offset_dims)
    batch_dims = [i for i in range(rank) if i not in offset_dims]
    # Which dimension of the result runs along each dimension of the indices, and of a slice.
    index_dims = [i for i in range(len(shape_of(indices))) if i != vector]
    without = {*numbers.collapsed_slice_dims, *numbers.operand_batching_dims}
    slice_dims = [i for i in range(len(sizes)) if i not in without]
    extents = [None] * rank
    for at, dimension in zip(batch_dims, index_dims):
        extents[at] = size_of(b, indices, dimension)
    for at, dimension in zip(offset_dims, slice_dims):
        extents[at] = sizes[dimension]
    limits = {dimension: size_of(b, value, dimension) for dimension in numbers.start_index_map}

    def element(inner, places):
        """The element of the tensor that comes to these places of the result."""
        along = dict(zip(index_dims, (places[at] for at in batch_dims)))
        at = [index(inner, 0)] * len(sizes)
        for column, dimension in enumerate(numbers.start_index_map):
            where = [along[i] if i != vector else index(inner, column) for i in range(len(shape_of(indices)))]
            start = inner.value("tensor.extract", [indices, *where], ir.IntegerType.get_signless(64))
            start = inner.value("arith.index_cast", [start], ir.IndexType.get())
            at[dimension] = moved_inside(inner, start, limits[dimension], sizes[dimension])
        for dimension, of_indices in zip(numbers.operand_batching_dims, numbers.start_indices_batching_dims):
            at[dimension] = along[of_indices]
        for place, dimension in zip((places[i] for i in offset_dims), slice_dims):
            at[dimension] = inner.value("arith.addi", [at[dimension], place], ir.IndexType.get())
        return inner.value("tensor.extract", [value, *at], element_of(value))

    return generated(b, tensor_type(shape_of(result), element_of(value)), extents, element)


def lower_dynamic_pad(op, scalars):
    """One kernel: each place holds an element of the tensor, or the padding where none comes to it."""
    value, padding, *bounds = op.operands
    b, type_ = Builder.before(op), ir.IndexType.get()
    lows, highs, between = ([b.value("arith.index_cast", [each], type_) for each in scalars.vector(bound)] for bound in bounds)
    steps = [b.value("arith.addi", [each, index(b, 1)], type_) for each in between]
    sizes = [size_of(b, value, i) for i in range(len(lows))]
    extents = [_padded_size(b, *each) for each in zip(sizes, lows, highs, between)]
    padding = b.value("tensor.extract", [padding], element_of(value))

    def element(inner, places):
        is_there, at = None, []
        for place, size, low, step in zip(places, sizes, lows, steps):
            moved = inner.value("arith.subi", [place, low], type_)
            number = inner.value("arith.divsi", [moved, step], type_)
            for holds in (compared(inner, 5, moved, index(inner, 0)), compared(inner, 2, number, size),
                          compared(inner, 0, inner.value("arith.muli", [number, step], type_), moved)):
                is_there = holds if is_there is None else inner.value("arith.andi", [is_there, holds], holds.type)
            at.append(moved_inside(inner, number, size, index(inner, 1)))
        there = inner.value("tensor.extract", [value, *at], element_of(value))
        return inner.value("arith.select", [is_there, there, padding], element_of(value))

    scalars.replace(op, [generated(b, op.results[0].type, extents, element)])


def _padded_size(b, size, low, high, between):
    """Of n elements n - 1 have something behind them."""
    type_ = ir.IndexType.get()
    gaps = b.value("arith.maxsi", [b.value("arith.subi", [size, index(b, 1)], type_), index(b, 0)], type_)
    total = b.value("arith.addi", [size, b.value("arith.muli", [gaps, between], type_)], type_)
    return b.value("arith.addi", [b.value("arith.addi", [total, low], type_), high], type_)


def compared(b, predicate, one, other, name="arith.cmpi"):
    predicate = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), predicate)
    return b.value(name, [one, other], ir.IntegerType.get_signless(1), {"predicate": predicate})


def generated(b, type_, extents, element, operands=()):
    """A tensor by what stands at each of its places; `extents` are values for all dimensions, those that are known as well, or nothing
    where all are. `operands`: tensors, and along which dimensions each lies; `element` gets their elements, too."""
    shape = list(type_.shape)
    rank = len(shape)
    empty = b.value("tensor.empty", [extent for extent, known in zip(extents, shape) if known < 0], type_)
    maps = [ir.AffineMap.get(rank, 0, [ir.AffineDimExpr.get(i) for i in dims]) for dims in (*(dims for _, dims in operands), range(rank))]
    given = [value for value, _ in operands]
    made = b.operation("linalg.generic", [*given, empty], [type_], {
        "indexing_maps": ir.ArrayAttr.get([ir.AffineMapAttr.get(each) for each in maps]),
        "iterator_types": ir.ArrayAttr.get([ir.Attribute.parse("#linalg.iterator_type<parallel>")] * rank),
        "operandSegmentSizes": ir.DenseI32ArrayAttr.get([len(given), 1])}, regions=1)
    block = made.regions[0].blocks.append(*map(element_of, given), type_.element_type)
    inner = Builder(ir.InsertionPoint(block), b.location)
    places = [inner.value("linalg.index", [], ir.IndexType.get(), {"dim": ir.IntegerAttr.get(ir.IntegerType.get_signless(64), i)}) for i in range(rank)]
    inner.operation("linalg.yield", [element(inner, places, *list(block.arguments)[:-1])])
    return made.results[0]


def size_of(b, value, dimension):
    return b.value("tensor.dim", [value, index(b, dimension)], ir.IndexType.get())


def moved_inside(b, start, limit, size):
    type_ = ir.IndexType.get()
    last = b.value("arith.subi", [limit, size], type_)
    return b.value("arith.maxsi", [index(b, 0), b.value("arith.minsi", [start, last], type_)], type_)
