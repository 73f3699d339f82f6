// product: sums of products as products of matrices, whatever linalg calls them.
//
// Each loop of such an operation moves each of A, B and C by a stride, which may be 0. Loops that move A and C but not
// B are rows, those that move B and C but not A are columns, those that move C not at all are steps of the sum. Of each
// kind one becomes the matrix's, and takes along those that continue it in memory; everything else (batches, further
// rows, columns and steps, windows of convolutions) is looped over, and what is left are two-dimensional views. So unit
// dimensions, transposed operands and several dimensions a side need no forms of their own.
#pragma once

#include <optional>

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/PatternMatch.h"

namespace baton::compiler_lite::codegen {

// Which loops of an operation are the matrices' own. `rows` and `columns` are parallel, and more than one step.
struct ProductForm {
  static constexpr unsigned kNone = ~0u;
  unsigned rows = kNone, columns = 0;  // kNone: one row.
  unsigned a = 0, b = 1;               // The inputs that rows and columns move.
  bool is_unsigned = false;
  llvm::SmallVector<unsigned> other_rows, other_columns, batches, steps;
};
// Of tensors and of memrefs; nothing for what isn't a product. The last dimension of C that is more than 1 is its
// columns.
std::optional<ProductForm> product_form(mlir::linalg::LinalgOp op);
// The same, and of a row or a column that is multiplied by a matrix.
std::optional<ProductForm> product_form_of_any_rows(mlir::linalg::LinalgOp op);
// Whether it adds products of two operands' elements and nothing else, whatever its loops; on tensors or memrefs.
bool sums_products(mlir::linalg::LinalgOp op);
// With more rows a core gains by converting and packing the matrix first (cpu/product.cpp); with fewer it reads the
// matrix where it lies.
inline constexpr int64_t kFewRows = 8;
// How many rows, where they are few and of types and sums that are worth it.
std::optional<int64_t> few_rows(mlir::linalg::LinalgOp op, const ProductForm& form);
// Loops of further rows that go on in C where the rows end, though not in A, whose steps follow each other: the innermost first. A tile
// of a block may have some of each (Product::RowGroup).
llvm::SmallVector<unsigned> row_group_loops(mlir::linalg::LinalgOp op, const ProductForm& form);
// The form whose rows have such loops, where those of `form` are few.
ProductForm with_row_groups(mlir::linalg::LinalgOp op, const ProductForm& form);
// Whether the matrices are so small that threads of a block had better make one sum each than share a tile, of which most would
// be empty.
bool is_tiny(mlir::linalg::LinalgOp op, const ProductForm& form);
// Whether tensor cores may multiply its elements: halves, and bytes that are summed in i32.
bool has_small_factors(mlir::linalg::LinalgOp product);
// Whether it is one in any form, upstream's included, whose test asks for one result.
bool is_product(mlir::linalg::LinalgOp op);

// C += A * B on two-dimensional memrefs of any layout.
struct Product {
  // Further steps of the sum, as windows of a convolution make them: A and B move by so many elements in each.
  struct Turn {
    mlir::Value count, a_stride, b_stride;
  };
  // Further rows: A and C move by so many elements in each, B stays.
  struct RowTurn {
    mlir::Value count, a_stride, c_stride;
  };
  // Rows of A of which the next group does not follow the one before at the same stride, though it does in C: a group is so many
  // of the faster one.
  struct RowGroup {
    int64_t size;
    mlir::Value a_stride;
  };
  // A loop of the operation that a row's or a column's number is made of.
  struct Digit {
    unsigned loop;
    int64_t size;
  };
  mlir::Value a, b, c;
  bool is_unsigned = false;
  llvm::SmallVector<Turn> turns = {};  // The first is the slowest.
  llvm::SmallVector<RowTurn> row_turns = {};
  llvm::SmallVector<RowGroup> row_groups =
      {};                    // The first is the fastest, the rows of A's view; none where these are all.
  mlir::Type sum_type = {};  // What the operation sums in, whatever C is of.
  // Where the loops around the matrices stand, by loop, null for all others; and what the others make, the fastest first.
  llvm::SmallVector<mlir::Value> around = {};
  llvm::SmallVector<Digit> rows = {}, columns = {};
  // Element by element over the sums, which no memory holds then: C is one of its results, with the sums' dimensions, and
  // `last_loops` says which of its loops each of the product's is.
  mlir::linalg::GenericOp last = {};
  mlir::OpOperand* sums_of_last = nullptr;
  llvm::SmallVector<std::optional<unsigned>> last_loops = {};
};
// The matrices of `op`, which is on memrefs and has the form. `rewriter` stands in the loops around them afterwards; those
// around the steps are left as turns if `leaves_turns`, and rows that follow each other in C alone as groups if `leaves_groups`.
Product open_product(mlir::IRRewriter& rewriter, mlir::linalg::LinalgOp op, const ProductForm& form,
                     bool leaves_turns = false, bool leaves_groups = false);
// The same, with the matrices of most rows; those around the rows are left as row turns.
Product open_product_of_rows(mlir::IRRewriter& rewriter, mlir::linalg::LinalgOp op, const ProductForm& form);
// Whether the columns of C follow each other in memory.
bool has_contiguous_columns(mlir::linalg::LinalgOp op, const ProductForm& form);
// Whether the elements that a loop leads to in an operand (2: C) follow each other in memory.
bool is_contiguous_along(mlir::linalg::LinalgOp op, const ProductForm& form, unsigned operand, unsigned loop);
// Whether each element of C is written once, after all steps of its sum.
bool sums_at_once(mlir::linalg::LinalgOp op, const ProductForm& form);

bool has_contiguous_rows(mlir::Value memory);
// The dimension along which a matrix's elements follow each other; -1: neither, as far as one knows.
int contiguous_dimension(mlir::Value memory);
// An element of A or B, or a vector of some, in the type of C.
mlir::Value convert_element(mlir::OpBuilder& builder, mlir::Location location, mlir::Value value, mlir::Type type,
                            bool is_unsigned);

}  // namespace baton::compiler_lite::codegen
