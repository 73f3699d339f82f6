// lower_contraction: a matrix product by the threads of a block, in tiles that pass through shared memory.
#pragma once

#include "compiler-lite/codegen/cuda/block.hpp"
#include "compiler-lite/codegen/cuda/target.hpp"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/PatternMatch.h"

namespace baton::compiler_lite::codegen::cuda {

// Whether `op`, which has its name (product.hpp), is a product that the threads of `block` compute in tiles.
bool takes_contraction(mlir::linalg::LinalgOp op, const Block& block);

// Writes what `op` does before it; gives the operation that stands in its place, to be erased. Null: no product, or
// one for plain loops; `op` may have another name then. `from_zero`: the result holds nothing that counts.
mlir::Operation* lower_contraction(mlir::IRRewriter& rewriter, mlir::linalg::LinalgOp& op, Block& block,
                                   const Features& features, bool from_zero);

}  // namespace baton::compiler_lite::codegen::cuda
