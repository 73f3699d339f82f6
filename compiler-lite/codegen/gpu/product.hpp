// lower_product: a matrix product by the threads of a block, in tiles that pass through shared memory.
#pragma once

#include "compiler-lite/codegen/gpu/block.hpp"
#include "compiler-lite/codegen/product.hpp"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/PatternMatch.h"

namespace baton::compiler_lite::codegen::gpu {

// Whether products leave sums in memory of such elements.
bool has_sums_type(mlir::Type type);
// Whether `op` is a product (product.hpp) that the threads of `block` compute in tiles.
bool takes_product(mlir::linalg::LinalgOp op, const Block& block);

// Whether code for such devices keeps sums in registers until all steps are taken, and memory never holds a part of them.
bool keeps_sums(mlir::linalg::LinalgOp op, const ProductForm& form, const Features& features);

// Writes what `op` does before it; gives the operation, to be erased. Null: no product, or one for plain loops.
// `from_zero`: the result holds nothing that counts.
mlir::Operation* lower_product(mlir::IRRewriter& rewriter, mlir::linalg::LinalgOp op, Block& block, bool from_zero,
                               mlir::OpOperand* sums_of_last);

}  // namespace baton::compiler_lite::codegen::gpu
