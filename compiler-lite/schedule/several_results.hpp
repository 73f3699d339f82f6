// Several results: what goes element by element, and makes a tensor that leaves the function, or a loop's turn, and is read once
// more on the way, is done with that reader. One kernel writes both: a step of Adam reads its four tensors once.
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace baton::compiler_lite::schedule {

// For linalg operations on tensors, after elementwise operations are fused; where cores compute.
mlir::LogicalResult join_writers_of_results(mlir::ModuleOp module);

}  // namespace baton::compiler_lite::schedule
