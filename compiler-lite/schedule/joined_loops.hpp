// joined_loops: products whose rows, columns or steps are several short loops that continue each other in all operands, as those
// over the height and the width of an image do, with one long loop in their place.
//
// A block of threads computes a tile of rows and columns of one loop each: of an image of 7 x 7 it would take 7. What is computed
// element by element from the results goes along the joined loop, too, so that the kernel of the product does it.
#pragma once

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Utils/ReshapeOpsUtils.h"
#include "mlir/IR/BuiltinOps.h"

namespace baton::compiler_lite::schedule {

// Whether these loops follow each other in each operand, so that one may stand in their place.
bool continue_each_other(mlir::linalg::LinalgOp op, const mlir::ReassociationIndices& run);

// For linalg operations on tensors, after elementwise operations are fused. Attention stays as it is.
mlir::LogicalResult join_product_loops(mlir::ModuleOp module);

}  // namespace baton::compiler_lite::schedule
