// lower_contraction: a matrix product by the threads of a block, in tiles that pass through shared memory.
#pragma once

#include "compiler-lite/codegen/cuda/block.hpp"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/PatternMatch.h"

namespace baton::compiler_lite::codegen::cuda {

// Writes what `op` does before it; gives the operation that stands in its place, to be erased. Null: no product, or
// one for plain loops; `op` may have another name then.
mlir::Operation* lower_contraction(mlir::IRRewriter& rewriter, mlir::linalg::LinalgOp& op, Block& block);

}  // namespace baton::compiler_lite::codegen::cuda
