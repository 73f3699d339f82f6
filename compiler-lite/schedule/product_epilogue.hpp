// product_epilogue: what stands behind a product element by element and a library may do with it: a bias for each column,
// an activation.
#pragma once

#include "compiler-lite/codegen/product.hpp"
#include "compiler-lite/schedule/library_file.hpp"

namespace baton::compiler_lite::schedule {

struct FoundEpilogue {
  mlir::linalg::GenericOp op = {};
  int bias_operand = -1;  // Of `op`.
  Epilogue kind = {};
};

// Nothing where what follows is something else, or there are several that read the product.
std::optional<FoundEpilogue> find_epilogue(mlir::linalg::LinalgOp product, const codegen::ProductForm& form);

}  // namespace baton::compiler_lite::schedule
