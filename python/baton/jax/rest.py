"""The rest that jaxlib's passes leave: barriers, reductions of no dimension, batch norms."""
import numpy as np
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo

from . import eigenvectors, hessenberg, reflected, reflections, spectral_calls, tridiagonal
from .batches import lower_one_by_one
from .boundary import entries
from .build import Builder, element_of, has_unknown_sizes, integers, is_integer, shape_of, tensor_type
from .convolutions import lower_convolution, lower_dynamic_convolution
from .factorizations import CALLS, is_complex, lower_cholesky, lower_triangular_solve
from .scalars import index
from .running import lower_running
from .sorting import lower_approximate_top_k, replace
from .windows import lower_select_and_scatter
from .windows_unknown import lower_windows, padded


def turn_scan(op):
    """chlo.scan from the end is one from the beginning of what is turned round; jaxlib's pass begins at the front in any case."""
    if "is_reverse" not in op.attributes or not ir.BoolAttr(op.attributes["is_reverse"]).value:
        return
    dimension = ir.IntegerAttr(op.attributes["dimension"]).value
    inputs, outputs = (list(op.attributes[name])[0] for name in ("operandSegmentSizes", "resultSegmentSizes"))
    before = Builder.before(op)
    for at in range(inputs):
        op.operands[at] = before.reverse(op.operands[at], [dimension])
    after = Builder(ir.InsertionPoint.after(op), op.location)
    for result in list(op.results)[:outputs]:
        turned = after.reverse(result, [dimension])
        result.replace_all_uses_except(turned, turned.owner.operation)
    op.attributes["is_reverse"] = ir.BoolAttr.get(False)


def _barrier(op, module):
    """The compiler moves nothing across that a caller could see."""
    replace(op, list(op.operands))
    return True


def _reduce(op, module):
    """Of no dimension: each element combined with the first value. Of no element: the first value."""
    count = len(op.results)
    values, first = list(op.operands)[:count], list(op.operands)[count:]
    is_empty = _empty(values[0])
    if len(list(op.attributes["dimensions"])) and not is_empty:
        return False
    b = Builder.before(op)
    kept = [size for i, size in enumerate(b.sizes(values[0])) if i not in list(op.attributes["dimensions"])]
    first = [b.broadcast(each, kept, []) for each in first]
    replace(op, first if is_empty else b.apply(op.regions[0].blocks[0], [*first, *values]))
    return True


def _empty(value):
    return 0 in shape_of(value)


def _pad(op, module):
    """Around no element there is only padding. Of unknown sizes, jaxlib's passes add at the ends, and neither between nor less."""
    bounds = [list(ir.DenseI64ArrayAttr(op.attributes[name])) for name in ("edge_padding_low", "edge_padding_high", "interior_padding")]
    if has_unknown_sizes(op.operands[0]) and (any(bounds[2]) or min(bounds[0] + bounds[1]) < 0):
        b = Builder.before(op)
        replace(op, [b.value("stablehlo.dynamic_pad", [*op.operands, *map(b.numbers, bounds)], op.results[0].type)])
        return True
    if not _empty(op.operands[0]):
        return False
    replace(op, [Builder.before(op).broadcast(op.operands[1], shape_of(op.results[0]), [])])
    return True


def _update_slice(op, module):
    """By no element nothing is changed."""
    if not _empty(op.operands[1]):
        return False
    replace(op, [op.operands[0]])
    return True


def _select_and_scatter(op, module):
    """Of no window nothing is chosen."""
    if not _empty(op.operands[1]):
        return lower_select_and_scatter(op, module)
    replace(op, [Builder.before(op).broadcast(op.operands[2], shape_of(op.results[0]), [])])
    return True


PARTS_MAX = 8  # Of unknown sizes, in one kernel: each size is a word of its.


def _concatenate(op, module):
    """Parts without elements add nothing; many of unknown sizes are put together by several kernels."""
    parts = [each for each in op.operands if 0 not in shape_of(each)]
    is_wide = len(parts) > PARTS_MAX and any(size < 0 for each in parts for size in shape_of(each))
    if not parts or len(parts) == len(op.operands) and not is_wide:
        return False
    b, dimension = Builder.before(op), op.attributes["dimension"].value
    while len(parts) > PARTS_MAX and is_wide:
        parts = [b.concatenate(parts[i:i + PARTS_MAX], dimension) for i in range(0, len(parts), PARTS_MAX)]
    replace(op, [b.concatenate(parts, dimension)])
    return True


def _dot_general(op, module):
    """Sums of no products are 0. An algorithm says how exact factors and sums are at least; they are more exact where it costs nothing."""
    if any(0 in shape_of(each) for each in op.operands) and 0 not in shape_of(op.results[0]):
        replace(op, [Builder.before(op).like(op.results[0], 0)])
        return True
    if "algorithm" not in op.attributes:
        return _widen_unsigned(op)
    b, attributes = Builder.before(op), dict(op.attributes.items())
    algorithm = stablehlo.DotAlgorithm(attributes.pop("algorithm"))
    precisions = (algorithm.lhs_precision_type, algorithm.rhs_precision_type)
    factors = [b.convert(each, _wider(precision, element_of(each))) for each, precision in zip(op.operands, precisions)]
    sum_type = tensor_type(shape_of(op.results[0]), _wider(algorithm.accumulation_type, element_of(op.results[0])))
    replace(op, [b.convert(b.value(op.name, factors, sum_type, attributes), element_of(op.results[0]))])
    return True


def _widen_unsigned(op):
    """Factors that are unsigned and narrower than the sums are widened first: jaxlib's passes would take them as signed ones."""
    element = element_of(op.results[0])
    factors = list(op.operands)
    if not any(_is_unsigned(element_of(each)) and element_of(each).width < element.width for each in factors if is_integer(element)):
        return False
    b = Builder.before(op)
    replace(op, [b.value(op.name, [b.convert(each, element) for each in factors], op.results[0].type, dict(op.attributes.items()))])
    return True


def _is_unsigned(element):
    return is_integer(element) and element.is_unsigned


def _wider(precision, element):
    """Of the two; tf32 is no type that tensors have, and f32 holds its numbers."""
    return precision if precision.width > element.width and not isinstance(precision, ir.FloatTF32Type) else element


def _batch_norm_inference(op, module):
    b = Builder.before(op)
    x, scale, shift, mean, variance = op.operands
    feature = op.attributes["feature_index"].value
    epsilon = op.attributes["epsilon"].value

    def wide(value):
        return b.broadcast(value, shape_of(x), [feature])

    factor = b.multiply(scale, b.each("rsqrt", b.add(variance, epsilon)))
    replace(op, [b.add(b.multiply(b.subtract(x, wide(mean)), wide(factor)), wide(shift))])
    return True


def _convolution(op, module):
    """Sums of no products are 0."""
    if any(_empty(each) for each in op.operands):
        replace(op, [Builder.before(op).like(op.results[0], 0)])
        return True
    if _widen_unsigned(op):
        return True
    if not has_unknown_sizes(*op.operands):
        return False
    lower_convolution(op)
    return True


def _reduce_window(op, module):
    """Over windows of a tensor of an unknown batch: what stands at each place of all windows, combined place by place. With a
    known one, running sums and the like."""
    shape = shape_of(op.operands[0])
    rank, count = len(shape), len(op.results)
    values, firsts = list(op.operands)[:count], list(op.operands)[count:]
    if not shape:  # One window of one number.
        replace(op, Builder.before(op).apply(op.regions[0].blocks[0], [*firsts, *values]))
        return True
    if 0 in shape:  # Windows of padding alone.
        b = Builder.before(op)
        replace(op, [b.broadcast(first, shape_of(result), []) for first, result in zip(firsts, op.results)])
        return True
    if min(shape) >= 0:
        return lower_running(op, module)
    window = _numbers(op, "window_dimensions", [1] * rank)
    strides, dilations, spread = (_numbers(op, name, [1] * rank) for name in ("window_strides", "window_dilations", "base_dilations"))
    padding = [0] * (2 * rank)
    if "padding" in op.attributes:
        padding = [int(each) for each in ir.DenseIntElementsAttr(op.attributes["padding"])]
        padding = padding * (2 * rank // len(padding))
    if any(size < 0 and (window[i], strides[i], spread[i], *padding[2 * i:2 * i + 2]) != (1, 1, 1, 0, 0) for i, size in enumerate(shape)):
        lower_windows(op, op.regions[0].blocks[0], window, strides, spread, dilations, padding)
        return True
    b = Builder.before(op)
    wide = [padded(b, value, first, padding[0::2], padding[1::2], spread) for value, first in zip(values, firsts)]
    total = None
    for place in np.ndindex(*window):
        parts = [_strided(b, value, [p * d for p, d in zip(place, dilations)], strides, shape_of(result)) for value, result in zip(wide, op.results)]
        total = parts if total is None else b.apply(op.regions[0].blocks[0], [*total, *parts])
    replace(op, total)
    return True


def _numbers(op, name, otherwise):
    return list(ir.DenseI64ArrayAttr(op.attributes[name])) if name in op.attributes else otherwise


def _strided(b, value, offsets, strides, shape):
    unknown = ir.ShapedType.get_dynamic_size()
    sizes = [b.value("tensor.dim", [value, index(b, i)], ir.IndexType.get()) for i, size in enumerate(shape) if size < 0]
    attributes = {"static_offsets": integers(offsets), "static_strides": integers(strides),
                  "static_sizes": integers(size if size >= 0 else unknown for size in shape),
                  "operandSegmentSizes": ir.DenseI32ArrayAttr.get([1, 0, len(sizes), 0])}
    return b.value("tensor.extract_slice", [value, *sizes], tensor_type(shape, element_of(value)), attributes)


def lower_complex_factorization(op, module):
    """One of complex matrices, which comes first; others stay."""
    if op.name in ("stablehlo.cholesky", "stablehlo.triangular_solve") and is_complex(op.operands[0]):
        REWRITES[op.name](op, module)
    elif op.name == "stablehlo.custom_call" and (name := ir.StringAttr(op.attributes["call_target_name"]).value) in COMPLEX_CALLS:
        _lower_call(op, name)


def _lower_call(op, name):
    config = entries(op.attributes["mhlo.backend_config"])
    if name in OF_KNOWN_SIZES and has_unknown_sizes(op.operands[0]):
        lower_one_by_one(op, lambda inner: KNOWN_CALLS[name](inner, config))
    else:
        KNOWN_CALLS[name](op, config)


def lower_known_call(op):
    """Calls that only annotate; True when the operation is gone."""
    name = ir.StringAttr(op.attributes["call_target_name"]).value
    if name in ("Sharding", "SPMDFullToShardShape", "SPMDShardToFullShape", "annotate_device_placement"):
        replace(op, list(op.operands))
        return True
    if name in KNOWN_CALLS:
        _lower_call(op, name)
        return True
    if name == "shape_assertion":
        return False  # sizes.py
    raise NotImplementedError(f"custom_call @{name} is not lowered: only commands are, whose names are module.command")


OF_KNOWN_SIZES = {**reflections.CALLS, **reflected.CALLS, **spectral_calls.CALLS, **hessenberg.CALLS, **eigenvectors.CALLS}
FACTORIZATIONS = {**CALLS, **OF_KNOWN_SIZES, **tridiagonal.CALLS}
KNOWN_CALLS = {**FACTORIZATIONS, "ApproxTopK": lower_approximate_top_k}
COMPLEX_CALLS = [name for name in FACTORIZATIONS if name[len("lapack_")] in "cz" or "geev" in name]


def _slice_of_number(op, _):
    """Of rank 0: the number itself. jaxlib's pass ends the process over it."""
    return _without_places(op, op.operands[0])


def _update_of_number(op, _):
    return _without_places(op, op.operands[1])


def _without_places(op, value):
    if shape_of(op.operands[0]):
        return False
    replace(op, [value])
    return True


def _gather(op, _):
    """jaxlib's pass counts dimensions of the indices that run with the tensor's as if the index's own stood behind them: it is brought there."""
    numbers = stablehlo.GatherDimensionNumbers(op.attributes["dimension_numbers"])
    own, together = numbers.index_vector_dim, list(numbers.start_indices_batching_dims)
    if all(each < own for each in together):
        return False
    last = len(shape_of(op.operands[1])) - 1
    op.operands[1] = Builder.before(op).transpose(op.operands[1], [*(i for i in range(last + 1) if i != own), own])
    op.attributes["dimension_numbers"] = stablehlo.GatherDimensionNumbers.get(
        list(numbers.offset_dims), list(numbers.collapsed_slice_dims), list(numbers.operand_batching_dims),
        [each - (each > own) for each in together], list(numbers.start_index_map), last)
    return True


def _rng_bit_generator(op, _):
    """Of no numbers: none, and the state as it was."""
    bits = op.results[1]
    if not _empty(bits):
        return False
    b = Builder.before(op)
    replace(op, [op.operands[0], b.full(shape_of(bits), 0, element_of(bits))])
    return True


REWRITES = {
    "stablehlo.gather": _gather,
    "stablehlo.rng_bit_generator": _rng_bit_generator,
    "stablehlo.dynamic_slice": _slice_of_number,
    "stablehlo.dynamic_update_slice": _update_of_number,
    "stablehlo.optimization_barrier": _barrier,
    "stablehlo.reduce": _reduce,
    "stablehlo.concatenate": _concatenate,
    "stablehlo.dot_general": _dot_general,
    "stablehlo.convolution": _convolution,
    "stablehlo.dynamic_conv": lower_dynamic_convolution,
    "stablehlo.reduce_window": _reduce_window,
    "stablehlo.batch_norm_inference": _batch_norm_inference,
    "stablehlo.select_and_scatter": _select_and_scatter,
    "stablehlo.pad": _pad,
    "stablehlo.dynamic_update_slice": _update_slice,
    "stablehlo.triangular_solve": lower_triangular_solve,
    "stablehlo.cholesky": lower_cholesky,
}
