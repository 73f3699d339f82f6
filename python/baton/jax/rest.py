"""The rest that jaxlib's passes leave: barriers, reductions of no dimension, batch norms."""
from jaxlib.mlir import ir

from .boundary import entries
from .build import Builder, shape_of
from .factorizations import CALLS, lower_cholesky, lower_triangular_solve
from .sorting import replace
from .windows import lower_select_and_scatter


def _barrier(op, module):
    """The compiler moves nothing across that a caller could see."""
    replace(op, list(op.operands))
    return True


def _reduce(op, module):
    """Of no dimension: each element combined with the first value. Of no element: the first value."""
    count = len(op.results)
    values, first = list(op.operands)[:count], list(op.operands)[count:]
    is_empty = 0 in shape_of(values[0])
    if len(list(op.attributes["dimensions"])) and not is_empty:
        return False
    b = Builder.before(op)
    first = [b.broadcast(each, shape_of(result), []) for each, result in zip(first, op.results)]
    replace(op, first if is_empty else b.apply(op.regions[0].blocks[0], [*first, *values]))
    return True


def _concatenate(op, module):
    """Parts without elements add nothing."""
    parts = [each for each in op.operands if 0 not in shape_of(each)]
    if not parts or len(parts) == len(op.operands):
        return False
    b = Builder.before(op)
    replace(op, [b.concatenate(parts, op.attributes["dimension"].value)])
    return True


def _dot_general(op, module):
    """Sums of no products are 0."""
    if not any(0 in shape_of(each) for each in op.operands) or 0 in shape_of(op.results[0]):
        return False
    replace(op, [Builder.before(op).like(op.results[0], 0)])
    return True


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


def lower_known_call(op):
    """Calls that only annotate; True when the operation is gone."""
    name = ir.StringAttr(op.attributes["call_target_name"]).value
    if name in ("Sharding", "SPMDFullToShardShape", "SPMDShardToFullShape", "annotate_device_placement"):
        replace(op, list(op.operands))
        return True
    if name in CALLS:
        CALLS[name](op, entries(op.attributes["mhlo.backend_config"]))
        return True
    if name == "shape_assertion":
        return False  # sizes.py
    raise NotImplementedError(f"custom_call @{name} is not lowered: only commands are, whose names are module.command")


REWRITES = {
    "stablehlo.optimization_barrier": _barrier,
    "stablehlo.reduce": _reduce,
    "stablehlo.concatenate": _concatenate,
    "stablehlo.dot_general": _dot_general,
    "stablehlo.batch_norm_inference": _batch_norm_inference,
    "stablehlo.select_and_scatter": lower_select_and_scatter,
    "stablehlo.triangular_solve": lower_triangular_solve,
    "stablehlo.cholesky": lower_cholesky,
}
