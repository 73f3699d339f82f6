// TensorSizes: how large each dimension of a tensor is, in terms of what the host has at hand: constants, sizes of
// imported views, operands of tensor.empty. Used by the checks of check_bounds.hpp.
//
// What it computes stands directly behind the tensor's definition, once for each dimension, so that every user of the
// tensor sees the same value and equal sizes are equal values. Operations between are looked through, never used, so
// that fusion counts no reader more.
#pragma once

#include "llvm/ADT/DenseMap.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/OpDefinition.h"

namespace baton::compiler_lite::schedule {

class TensorSizes {
 public:
  explicit TensorSizes(mlir::MLIRContext* context) : builder_(context) {}

  mlir::OpFoldResult of(mlir::Value tensor, unsigned dimension);

 private:
  mlir::OpFoldResult find(mlir::Value tensor, unsigned dimension);
  mlir::OpFoldResult of_cast(mlir::Operation* op, unsigned dimension);
  mlir::OpFoldResult of_reshape(mlir::Operation* op, unsigned dimension);
  mlir::OpFoldResult of_slice(mlir::Operation* op, unsigned dimension);
  mlir::OpFoldResult of_computed(mlir::OpResult result, unsigned dimension);
  // The size that stands beside the result of a dispatch or a call.
  mlir::OpFoldResult of_listed(mlir::OpResult result, mlir::ValueRange sizes, unsigned dimension);

  mlir::OpBuilder builder_;
  llvm::DenseMap<std::pair<mlir::Value, unsigned>, mlir::OpFoldResult> known_;
};

// Arithmetic on sizes and indices that folds where both sides are constants.
mlir::OpFoldResult index_constant(mlir::MLIRContext* context, int64_t value);
mlir::OpFoldResult add_indices(mlir::OpBuilder& builder, mlir::Location location, mlir::OpFoldResult a,
                               mlir::OpFoldResult b);
mlir::OpFoldResult subtract_indices(mlir::OpBuilder& builder, mlir::Location location, mlir::OpFoldResult a,
                                    mlir::OpFoldResult b);
mlir::OpFoldResult multiply_indices(mlir::OpBuilder& builder, mlir::Location location, mlir::OpFoldResult a,
                                    mlir::OpFoldResult b);

}  // namespace baton::compiler_lite::schedule
