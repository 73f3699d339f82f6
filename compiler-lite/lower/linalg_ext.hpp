// Operations of the dialect iree_linalg_ext one by one; lower.hpp has the step.
#pragma once

#include "compiler-lite/dialects/iree_linalg_ext.hpp"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/PatternMatch.h"

namespace baton::compiler_lite::lower {

// What the operation takes, by its clauses.
struct LinalgExtOperation {
  explicit LinalgExtOperation(mlir::Operation* operation);
  mlir::RankedTensorType result_type(unsigned i = 0) const {
    return mlir::cast<mlir::RankedTensorType>(op->getResult(i).getType());
  }
  bool has_region() const { return !op->getRegion(0).empty(); }
  mlir::LogicalResult refuse(const llvm::Twine& instead) const;

  mlir::Operation* op;
  llvm::SmallVector<mlir::Value> inputs, outputs, others;
};

// Queries, keys, values, a scale and maybe a mask, along any dimensions that the maps name.
mlir::LogicalResult lower_attention(mlir::IRRewriter& rewriter, const LinalgExtOperation& attention);

}  // namespace baton::compiler_lite::lower
