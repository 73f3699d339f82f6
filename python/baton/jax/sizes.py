"""Operations whose sizes are values: what says the sizes becomes scalars of the host, from which tensors get theirs."""
from jaxlib.mlir import ir

from .build import Builder, integers, shape_of, tensor_type
from .scalars import index, is_number, owner_of

# Operands of StableHLO's operations that hold sizes and positions.
VECTORS = {
    "stablehlo.dynamic_broadcast_in_dim": [1],
    "stablehlo.dynamic_iota": [0],
    "stablehlo.dynamic_pad": [2, 3, 4],
    "stablehlo.real_dynamic_slice": [1, 2, 3],
}


def lower_sizes(op, scalars):
    """True when the operation is replaced or has got scalars."""
    if op.name in ("stablehlo.dynamic_slice", "stablehlo.dynamic_update_slice"):
        _scalar_starts(op, scalars)
    elif op.name == "stablehlo.dynamic_reshape":
        _reshape(op, scalars)
    elif op.name == "stablehlo.get_dimension_size":
        scalars.replace(op, [scalars.tensor(Builder.before(op), scalars.of(op.results[0]))])
    elif op.name == "stablehlo.custom_call" and op.attributes["call_target_name"].value == "shape_assertion":
        _assertion(op, scalars)
    elif op.name == "stablehlo.dynamic_gather":
        _slice_of_some_size(op, scalars)
    elif op.name == "stablehlo.reverse" and min(shape_of(op.operands[0]), default=0) < 0:
        _reverse(op, scalars)
    elif op.name in VECTORS:
        for at in VECTORS[op.name]:
            _scalar_vector(op, at, scalars)
        if op.name == "stablehlo.dynamic_broadcast_in_dim":
            _say_what_expands(op)


def _scalar_starts(op, scalars):
    first = 1 if op.name == "stablehlo.dynamic_slice" else 2
    for at in range(first, len(op.operands)):
        start = op.operands[at]
        made = owner_of(start)
        if is_number(start) and made is not None and made.name not in ("tensor.from_elements", "stablehlo.constant"):
            op.operands[at] = scalars.tensor(Builder.before(op), scalars.of(start))


def _scalar_vector(op, at, scalars):
    sizes = op.operands[at]
    b = Builder.before(op)
    scalar = scalars.vector(sizes)
    if scalar:
        op.operands[at] = b.value("tensor.from_elements", scalar, sizes.type)


def _say_what_expands(op):
    """A dimension of size 1 is repeated; one whose size is unknown is not: JAX writes 1 where it repeats."""
    shape = shape_of(op.operands[0])
    op.attributes["known_expanding_dimensions"] = integers(i for i, size in enumerate(shape) if size == 1)
    op.attributes["known_nonexpanding_dimensions"] = integers(i for i, size in enumerate(shape) if size != 1)


def _reshape(op, scalars):
    b = Builder.before(op)
    sizes = scalars.vector(op.operands[1])
    shape = b.value("tensor.from_elements", sizes, op.operands[1].type) if sizes else op.operands[1]
    scalars.replace(op, [b.value("tensor.reshape", [op.operands[0], shape], op.results[0].type)])


def _slice_of_some_size(op, scalars):
    """A gather of one slice, whose size is a value: where it begins is moved so that it ends inside."""
    from jaxlib.mlir.dialects import stablehlo

    numbers = stablehlo.GatherDimensionNumbers(op.attributes["dimension_numbers"])
    value, indices, wanted = op.operands
    if len(shape_of(indices)) != 1 or list(numbers.collapsed_slice_dims) or list(numbers.operand_batching_dims):
        raise NotImplementedError("stablehlo.dynamic_gather of several slices is not lowered; give the sizes when lowering")
    b = Builder.before(op)
    shape, made = shape_of(value), ir.IndexType.get()
    sizes = [b.value("arith.index_cast", [each], made) for each in scalars.vector(wanted)]
    offsets = [index(b, 0)] * len(shape)
    for dimension, start in zip(numbers.start_index_map, scalars.vector(indices)):
        last = b.value("arith.subi", [b.value("tensor.dim", [value, index(b, dimension)], made), sizes[dimension]], made)
        start = b.value("arith.index_cast", [start], made)
        offsets[dimension] = b.value("arith.maxsi", [index(b, 0), b.value("arith.minsi", [start, last], made)], made)
    rank, unknown = len(shape), ir.ShapedType.get_dynamic_size()
    attributes = {"static_offsets": ir.DenseI64ArrayAttr.get([unknown] * rank), "static_sizes": ir.DenseI64ArrayAttr.get([unknown] * rank),
                  "static_strides": ir.DenseI64ArrayAttr.get([1] * rank), "operandSegmentSizes": ir.DenseI32ArrayAttr.get([1, rank, rank, 0])}
    whole = tensor_type([unknown] * rank, ir.RankedTensorType(value.type).element_type)
    part = b.value("tensor.extract_slice", [value, *offsets, *sizes], whole, attributes)
    scalars.replace(op, [part if whole == op.results[0].type else b.value("tensor.cast", [part], op.results[0].type)])


def _assertion(op, scalars):
    b = Builder.before(op)
    message = ir.StringAttr(op.attributes["error_message"]).value.split(" Please see ")[0]
    b.operation("cf.assert", [scalars.of(op.operands[0])], [], {"msg": ir.StringAttr.get(message)})
    scalars.replace(op, [])


def _reverse(op, scalars):
    """Element i of a reversed dimension is element n - 1 - i; StableHLO's own lowering takes known sizes only."""
    b = Builder.before(op)
    value = op.operands[0]
    shape = shape_of(value)
    sizes = [b.value("tensor.dim", [value, index(b, i)], ir.IndexType.get()) for i in range(len(shape))]
    empty = b.value("tensor.empty", [size for size, known in zip(sizes, shape) if known < 0], value.type)
    rank = len(shape)
    identity = ir.AffineMapAttr.get(ir.AffineMap.get_identity(rank))
    parallel = ir.ArrayAttr.get([ir.Attribute.parse("#linalg.iterator_type<parallel>")] * rank)
    segments = ir.DenseI32ArrayAttr.get([0, 1])
    made = b.operation("linalg.generic", [empty], [value.type], {
        "indexing_maps": ir.ArrayAttr.get([identity]), "iterator_types": parallel, "operandSegmentSizes": segments}, regions=1)
    element = ir.RankedTensorType(value.type).element_type
    block = made.regions[0].blocks.append(element)
    inner = Builder(ir.InsertionPoint(block), op.location)
    reversed_dimensions = set(ir.DenseI64ArrayAttr(op.attributes["dimensions"]))
    places = []
    for i in range(rank):
        place = inner.value("linalg.index", [], ir.IndexType.get(), {"dim": ir.IntegerAttr.get(ir.IntegerType.get_signless(64), i)})
        if i in reversed_dimensions:
            last = inner.value("arith.subi", [sizes[i], index(inner, 1)], ir.IndexType.get())
            place = inner.value("arith.subi", [last, place], ir.IndexType.get())
        places.append(place)
    inner.operation("linalg.yield", [inner.value("tensor.extract", [value, *places], element)])
    scalars.replace(op, [made.results[0]])


def zero_sized(type_):
    return isinstance(type_, ir.RankedTensorType) and 0 in list(type_.shape)


def lower_empty_result(op):
    """A tensor without elements needs no work to be made."""
    b = Builder.before(op)
    for result in op.results:
        shape = list(ir.RankedTensorType(result.type).shape)
        result.replace_all_uses_with(b.value("tensor.empty", [], tensor_type(shape, ir.RankedTensorType(result.type).element_type)))
    op.erase()
