// RowPlan: whether all operations of a kernel run along the same rows, and how each uses its operands.
#pragma once

#include <optional>

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace baton::compiler_lite::codegen::gpu {

// How an operand follows the elements of a row.
enum class RowUse {
  kElements,  // One element for each of the row's.
  kRow,       // One for the row.
  kOther,     // Any of memory that the kernel only reads; or no memory.
};

struct RowOp {
  mlir::linalg::LinalgOp op;
  bool is_along_row;               // Else it has one point for each row.
  llvm::SmallVector<RowUse> uses;  // Of its operands.
};

struct RowPlan {
  llvm::SmallVector<RowOp> ops;
  llvm::SmallVector<mlir::Value> written;  // In the order of the first write.
  int64_t length = 0;                      // Of a row.
  int64_t row_count = 0;                   // -1: not known.
  int64_t lanes = 1;                       // Elements of one access.
  size_t reducing = 0;                     // The first of `ops` that reduces.
};

std::optional<RowPlan> plan_rows(mlir::func::FuncOp kernel);

// What a view is of.
mlir::Value base_of(mlir::Value memory);

}  // namespace baton::compiler_lite::codegen::gpu
