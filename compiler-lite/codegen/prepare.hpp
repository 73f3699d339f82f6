// prepare_group: tensor operations in the form that tiling and bufferization like: elementwise arithmetic and named
// operations as linalg.generic, chains of them fused into one, padding and concatenation as writes into a destination.
#pragma once

#include "compiler-lite/codegen/tile_sizes.hpp"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace baton::compiler_lite::codegen {

mlir::LogicalResult prepare_group(mlir::func::FuncOp kernel, Tiling tiling);

}  // namespace baton::compiler_lite::codegen
