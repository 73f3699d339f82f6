// lower_reduction: operations with loops that reduce.
//
// Where the elements of one result follow each other in memory, or results are few, the threads of a warp or of the
// whole block share one result: partial results meet through shuffles, then through shared memory. Else each thread
// takes results of its own.
#pragma once

#include "compiler-lite/codegen/gpu/block.hpp"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace baton::compiler_lite::codegen::gpu {

// Writes what `op` does at `builder`; `op` itself stays.
void lower_reduction(mlir::OpBuilder& builder, mlir::linalg::GenericOp op, Block& block);

// The threads that a kernel with `op` wants, where it doesn't say: columns whose steps warps share need many loads on
// their way. 0: as many as others.
int64_t threads_wanted(mlir::linalg::GenericOp op);

}  // namespace baton::compiler_lite::codegen::gpu
