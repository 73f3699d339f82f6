// attention: two products with a softmax between them, as one operation that never holds all scores.
//
//   scores = Q K      masked = any function of one score, its place and other tensors
//   mixed = softmax(masked) V      last = any function of one result of it
//
// find_attention finds them among operations on tensors (schedule/form_dispatches) and on memrefs (a target's code for
// kernels that make_attention_kernel made). Any dimensions may be batches, and Q may have rows that K and V share (grouped
// queries).
#pragma once

#include <optional>

#include "compiler-lite/codegen/distribute.hpp"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace baton::compiler_lite::codegen {

// An attribute of groups and kernels that are nothing else.
inline constexpr llvm::StringLiteral kAttention = "baton.attention";
// Rows of Q that a workgroup takes.
inline constexpr int64_t kAttentionRows = 64;
// So few rows of Q take less time than reading K and V does.
inline constexpr int64_t kFewQueries = 8;

struct Attention {
  mlir::linalg::LinalgOp scores, mixed;
  mlir::linalg::GenericOp masked, last;  // Null: there is none.
  mlir::linalg::GenericOp maximum, exponent, sum, share;
  unsigned q = 0, k = 1, weights = 0, v = 1;  // Operands of the products.
  // Dimensions of the scores: the row of Q, kNoRow where there is a single one, and the key. All others are batches or
  // further rows.
  static constexpr unsigned kNoRow = ~0u;
  unsigned rank = 0, row = 0, key = 0;
  int64_t rows = 1, keys = 0, batches = 1;  // How many there are, where one knows it.
  int64_t depth = 0, width = 0;             // Elements of a row of Q and K, and of V.
  llvm::SmallVector<unsigned>
      order;  // For each dimension of the scores, which one of the first product's result it is.

  // For each dimension of a product's operand, the scores' dimension that it is; `rank` for the dimension that only the
  // operand and the result have: depth or width.
  llvm::SmallVector<unsigned> dimensions_of(mlir::linalg::LinalgOp product, mlir::AffineMap map) const;
  llvm::SmallVector<mlir::linalg::LinalgOp> operations() const;  // In the order in which they are computed.
  mlir::linalg::LinalgOp root() const { return last ? mlir::linalg::LinalgOp(last) : mixed; }
};

// A number of a body apart from its type, and the one that a body gives.
mlir::Value without_casts(mlir::Value value);
mlir::Value yielded(mlir::linalg::GenericOp op);

// What computes a tensor, or writes a memref; null: it comes from outside.
using Producer = llvm::function_ref<mlir::linalg::LinalgOp(mlir::Value)>;
// That whose last operation is `root`.
std::optional<Attention> find_attention(mlir::linalg::LinalgOp root, Producer producer);
// On memrefs of a kernel.
std::optional<Attention> find_attention(mlir::func::FuncOp kernel);

// How many workgroups share the keys of few rows. More than one where there are fewer batches than a GPU has
// multiprocessors: a language model's next token, of one sequence.
int64_t key_sharers(const Attention& attention);

// Rewrites a kernel on tensors, which is attention alone, to memrefs that have all scores; only find_attention and code
// without them may follow. Gives the grid: key_sharers workgroups, which follow each other, for each kAttentionRows rows.
mlir::FailureOr<mlir::AffineMap> make_attention_kernel(mlir::func::FuncOp kernel, const Destination& destination,
                                                       unsigned symbol_count);

}  // namespace baton::compiler_lite::codegen
