"""Operations whose sizes are values: what says the sizes becomes scalars of the host, from which tensors get theirs."""
from jaxlib.mlir import ir

from .build import Builder, element_of, has_unknown_sizes, integers, shape_of, tensor_type
from .gathering import generated, lower_dynamic_gather, lower_dynamic_pad, moved_inside, size_of
from .scalars import index, is_number, owner_of

# Operands of StableHLO's operations that hold sizes and positions.
VECTORS = {
    "stablehlo.dynamic_broadcast_in_dim": [1],
    "stablehlo.dynamic_iota": [0],
    "stablehlo.real_dynamic_slice": [1, 2, 3],
}


def lower_sizes(op, scalars):
    """True when the operation is replaced or has got scalars."""
    if op.name == "stablehlo.dynamic_update_slice" and has_unknown_sizes(*op.operands[:2]):
        _update_slice(op, scalars)
    elif op.name in ("stablehlo.dynamic_slice", "stablehlo.dynamic_update_slice"):
        _scalar_starts(op, scalars)
    elif op.name == "stablehlo.dynamic_reshape":
        _reshape(op, scalars)
    elif op.name == "stablehlo.get_dimension_size":
        scalars.replace(op, [scalars.tensor(Builder.before(op), scalars.of(op.results[0]))])
    elif op.name == "stablehlo.custom_call" and op.attributes["call_target_name"].value == "shape_assertion":
        _assertion(op, scalars)
    elif op.name == "stablehlo.dynamic_gather":
        lower_dynamic_gather(op, scalars)
    elif op.name == "stablehlo.dynamic_pad":
        lower_dynamic_pad(op, scalars)
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


def _update_slice(op, scalars):
    b, (value, update, *starts) = Builder.before(op), op.operands
    rank, unknown, shape = len(starts), ir.ShapedType.get_dynamic_size(), shape_of(update)
    sizes = [size_of(b, update, i) for i in range(rank)]
    starts = [start if is_number(start) else b.convert(start, ir.IntegerType.get_signless(64)) for start in starts]
    starts = [b.value("arith.index_cast", [scalars.of(start)], ir.IndexType.get()) for start in starts]
    starts = [moved_inside(b, start, size_of(b, value, i), sizes[i]) for i, start in enumerate(starts)]
    open_sizes = [size for size, known in zip(sizes, shape) if known < 0]
    attributes = {"static_offsets": integers([unknown] * rank), "static_sizes": integers(shape), "static_strides": integers([1] * rank),
                  "operandSegmentSizes": ir.DenseI32ArrayAttr.get([1, 1, rank, len(open_sizes), 0])}
    scalars.replace(op, [b.value("tensor.insert_slice", [update, value, *starts, *open_sizes], value.type, attributes)])


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
    reversed_dimensions = set(ir.DenseI64ArrayAttr(op.attributes["dimensions"]))

    def element(inner, places):
        for i in reversed_dimensions:
            last = inner.value("arith.subi", [sizes[i], index(inner, 1)], ir.IndexType.get())
            places[i] = inner.value("arith.subi", [last, places[i]], ir.IndexType.get())
        return inner.value("tensor.extract", [value, *places], element_of(value))

    scalars.replace(op, [generated(b, value.type, sizes, element)])


def zero_sized(type_):
    return isinstance(type_, ir.RankedTensorType) and 0 in list(type_.shape)


def lower_empty_result(op):
    """A tensor without elements needs no work to be made."""
    b = Builder.before(op)
    for result in op.results:
        shape = list(ir.RankedTensorType(result.type).shape)
        result.replace_all_uses_with(b.value("tensor.empty", [], tensor_type(shape, ir.RankedTensorType(result.type).element_type)))
    op.erase()
