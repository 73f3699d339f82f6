// product_layout: a product of tensors as a batch of matrices, which is how libraries know it.
//
// Loops of each kind that continue each other in all operands become one. What is left of rows and columns are further
// batches, with strides of 0 for the matrix that doesn't move.
#pragma once

#include <string>

#include "compiler-lite/codegen/product.hpp"
#include "compiler-lite/schedule/libraries.hpp"

namespace baton::compiler_lite::schedule {

// A: rows x steps, B: steps x columns, C: rows x columns; strides in elements.
struct ProductLayout {
  unsigned a = 0, b = 1;  // The operands of the operation.
  // In the order of modules/libraries/README.md: five sizes, then four strides for each of A, B and C. Sizes name an
  // operand of the operation and a dimension.
  std::vector<LibraryNumber> numbers;

  const LibraryNumber& rows() const { return numbers[2]; }
  const LibraryNumber& columns() const { return numbers[3]; }
  const LibraryNumber& steps() const { return numbers[4]; }
};

// Or why it is not one.
struct LayoutOrReason {
  std::optional<ProductLayout> layout;
  const char* reason = "";
};
LayoutOrReason product_layout(mlir::linalg::LinalgOp op, const codegen::ProductForm& form);

// A number that is known before anything runs.
std::optional<int64_t> known_number(const LibraryNumber& number);

}  // namespace baton::compiler_lite::schedule
