// Product: a matrix product on memrefs, whatever linalg calls it.
#pragma once

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/PatternMatch.h"

namespace baton::compiler_lite::codegen {

// C += A * B on two-dimensional memrefs of any layout.
struct Product {
  mlir::Value a, b, c;
  bool is_unsigned = false;
};

// A generic operation that is a product gets its name; any other comes back as it is.
mlir::linalg::LinalgOp name_product(mlir::IRRewriter& rewriter, mlir::linalg::LinalgOp op);
bool is_product(mlir::linalg::LinalgOp op);
// The matrices of `op`, which is a product. For a batch `rewriter` stands in the loop over it afterwards.
Product open_product(mlir::IRRewriter& rewriter, mlir::linalg::LinalgOp op);

bool has_contiguous_rows(mlir::Value memory);
// The dimension along which a matrix's elements follow each other; -1: neither, as far as one knows.
int contiguous_dimension(mlir::Value memory);
// An element of A or B, or a vector of some, in the type of C.
mlir::Value convert_element(mlir::OpBuilder& builder, mlir::Location location, mlir::Value value, mlir::Type type,
                            bool is_unsigned);

}  // namespace baton::compiler_lite::codegen
