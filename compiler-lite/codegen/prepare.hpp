// prepare_group: tensor operations in the form that tiling and bufferization like: elementwise arithmetic and named
// operations as linalg.generic, chains of them fused into one, padding and concatenation as writes into a destination.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace baton::compiler_lite::codegen {

mlir::LogicalResult prepare_group(mlir::func::FuncOp kernel);

}  // namespace baton::compiler_lite::codegen
