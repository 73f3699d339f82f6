// scatter: updates that say themselves in which row of the result they belong.
//
//   result[row, ...] = for each update in turn: land(update) == row ? join(so far, value(update)) : so far
//
// As it stands, each row looks at every update. Where all threads may write anywhere, each update is joined with its row
// at once instead, by an atomic operation, in any order: so the operation must be one whose result no order changes, on
// integers of 32 or 64 bits. Any other one must say that each row has one update at most (kUniqueRows).
#pragma once

#include <optional>

#include "compiler-lite/codegen/distribute.hpp"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace baton::compiler_lite::codegen {

// An attribute of groups that are nothing else.
inline constexpr llvm::StringLiteral kScatter = "baton.scatter";
// An attribute of operations: no two updates belong in one row.
inline constexpr llvm::StringLiteral kUniqueRows = "baton.unique_rows";

struct Scatter {
  mlir::linalg::GenericOp op;
  unsigned row = 0;               // The loop over the rows.
  mlir::Value land;               // Of the body: the row of an update.
  bool is_land_unsigned = false;  // How it becomes an index.
  std::optional<mlir::arith::AtomicRMWKind>
      combiner;       // Nothing: the value, which may come of what was there, is written.
  mlir::Value value;  // Of the body: what is joined or written.
};

// Loops are those of the result, in any order, and those over updates, which are all other ones.
std::optional<Scatter> find_scatter(mlir::linalg::GenericOp op);

// Sizes of a tensor of the kernel's arguments, in terms of the dispatch's constants.
using ArgumentSizes = llvm::function_ref<llvm::SmallVector<mlir::AffineExpr>(mlir::Value)>;

// Rewrites a kernel on tensors, which is a scatter into one of its arguments, to a loop over updates whose points threads
// share (kPoints). Gives the grid.
mlir::FailureOr<mlir::AffineMap> make_scatter_kernel(mlir::func::FuncOp kernel, const Destination& destination,
                                                     ArgumentSizes sizes_of, unsigned symbol_count);

}  // namespace baton::compiler_lite::codegen
