// lower_elementwise: operations whose loops are all parallel, point by point over the threads of a block.
//
// A loop through contiguous memory is taken in accesses of 16 bytes where all addresses allow it, which is found out
// when the kernel runs: a buffer may begin anywhere.
#pragma once

#include "compiler-lite/codegen/gpu/block.hpp"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace baton::compiler_lite::codegen::gpu {

// Writes what `op` does at `builder`; `op` itself stays.
void lower_elementwise(mlir::OpBuilder& builder, mlir::linalg::GenericOp op, Block& block);

}  // namespace baton::compiler_lite::codegen::gpu
