"""Products that jaxlib's pass takes for a linalg.batch_matmul and which are none: it looks at the result's rank only."""
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo

from .build import Builder, shape_of, tensor_type
from .sorting import replace


def give_vectors_a_column(op):
    """A product of matrices with vectors, of one batch, gets vectors that are columns: then its rank is its own. True when it is replaced."""
    numbers = stablehlo.DotDimensionNumbers(op.attributes["dot_dimension_numbers"])
    left, right = op.operands
    looks_like_matrices = (list(numbers.lhs_batching_dimensions), list(numbers.rhs_batching_dimensions)) == ([0], [0]) and \
        (list(numbers.lhs_contracting_dimensions), list(numbers.rhs_contracting_dimensions)) == ([2], [1])
    if not looks_like_matrices or len(shape_of(left)) == 3 or len(shape_of(op.results[0])) != 3:
        return False
    b = Builder.before(op)
    columns = b.reshape(right, [*b.sizes(right), 1])
    made = tensor_type([*shape_of(op.results[0]), 1], ir.RankedTensorType(op.results[0].type).element_type)
    product = b.value("stablehlo.dot_general", [left, columns], made, dict(op.attributes.items()))
    replace(op, [b.reshape(product, b.sizes(product)[:-1])])
    return True
