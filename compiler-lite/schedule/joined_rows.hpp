// joined_rows: sums and extremes along several short dimensions that lie one after the other in memory, as the height and the
// width of an image, go along one long loop. What goes along the same elements before and behind them does so, too, so that
// rows are rows for dispatch formation (row_groups.hpp).
//
// A loop over the last of them alone would end after a few vectors, join their lanes and begin again.
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace baton::compiler_lite::schedule {

// For linalg operations on tensors, after elementwise operations are fused.
mlir::LogicalResult join_reduced_loops(mlir::ModuleOp module);

}  // namespace baton::compiler_lite::schedule
