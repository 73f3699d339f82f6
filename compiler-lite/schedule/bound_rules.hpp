// BoundRules: what each operation on tensors asks of sizes and indices. check_bounds.hpp says when.
#pragma once

#include "compiler-lite/schedule/bounds.hpp"
#include "compiler-lite/schedule/tensor_sizes.hpp"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace baton::compiler_lite::schedule {

// The indices that an expression takes: from `first` up to, not including, `past`. A step of all loops at once is at most
// `steps` indices.
struct IndexRange {
  mlir::OpFoldResult first, past;
  int64_t steps = 0;
};

// Its many methods are one for each form of an operation, and what loops and bodies share of indices.
class BoundRules {
 public:
  BoundRules(mlir::OpBuilder& builder, HalCalls& hal)
      : builder_(builder), bounds_(builder, hal), sizes_(builder.getContext()) {}

  // Writes the comparisons before `op`. Fails where something can be neither compared nor held inside, which was said.
  mlir::LogicalResult apply(mlir::Operation* op);

 private:
  // bound_rules.cpp
  void compare(mlir::Operation* op);
  void elementwise(mlir::Operation* op);
  void cast(mlir::tensor::CastOp op);
  void elements(mlir::Operation* op, mlir::Value tensor, mlir::ValueRange indices);
  void concat(mlir::tensor::ConcatOp op);
  void pad(mlir::tensor::PadOp op);
  void expand(mlir::tensor::ExpandShapeOp op);
  void gather(mlir::tensor::GatherOp op);

  // slice_rules.cpp
  void extract_slice(mlir::tensor::ExtractSliceOp op);
  void insert_slice(mlir::tensor::InsertSliceOp op);
  void slice(mlir::OffsetSizeAndStrideOpInterface op, mlir::Value whole);
  void strided_slice(mlir::OffsetSizeAndStrideOpInterface op, unsigned dimension, mlir::OpFoldResult whole);

  // loop_rules.cpp
  void structured(mlir::linalg::LinalgOp op);
  llvm::SmallVector<mlir::OpFoldResult> loops(mlir::linalg::LinalgOp op);
  void window(mlir::linalg::LinalgOp op, mlir::OpOperand& operand, unsigned dimension, mlir::AffineExpr index,
              llvm::ArrayRef<mlir::OpFoldResult> extents);
  void body_extracts(mlir::Operation* op, llvm::ArrayRef<mlir::OpFoldResult> extents);
  void body_extract(mlir::Operation* op, mlir::tensor::ExtractOp extract, llvm::ArrayRef<mlir::OpFoldResult> extents);
  std::optional<IndexRange> range_of(mlir::Value index, mlir::Operation* op,
                                     llvm::ArrayRef<mlir::OpFoldResult> extents);
  std::optional<IndexRange> compute_range(mlir::Value index, mlir::Operation* op,
                                          llvm::ArrayRef<mlir::OpFoldResult> extents);
  std::optional<IndexRange> range_of(mlir::AffineExpr expression, llvm::ArrayRef<IndexRange> dimensions);
  // Compares loops with how far they may go, where indices could wrap round.
  void bound_loops(mlir::Operation* op, const IndexRange& range, llvm::ArrayRef<mlir::OpFoldResult> extents);
  std::optional<IndexRange> rounded(mlir::AffineExprKind kind, const IndexRange& range, int64_t divisor);
  // Whether one of the loops doesn't run; null when that is known not to be.
  mlir::Value runs_never(mlir::Location location, llvm::ArrayRef<mlir::OpFoldResult> extents);

  // body_rules.cpp
  void hold_in_body(mlir::Operation* op, llvm::ArrayRef<mlir::OpFoldResult> extents);
  void hold_slice(mlir::OffsetSizeAndStrideOpInterface slice, mlir::Value whole, mlir::Operation* op,
                  llvm::ArrayRef<mlir::OpFoldResult> extents);
  void hold_elements(mlir::Operation* access, mlir::RankedTensorType type, mlir::MutableOperandRange indices);

  template <typename... Parts>
  void refuse(mlir::Operation* op, const Parts&... parts) {
    mlir::InFlightDiagnostic error = mlir::emitError(op->getLoc()) << op->getName() << ": ";
    (error << ... << parts);
    refused_ = true;
  }

  mlir::Value value(mlir::OpFoldResult size);
  mlir::OpFoldResult constant(int64_t value) { return index_constant(builder_.getContext(), value); }

  mlir::OpBuilder& builder_;
  Bounds bounds_;
  TensorSizes sizes_;
  mlir::Location location_ = builder_.getUnknownLoc();
  llvm::DenseMap<mlir::Value, std::optional<IndexRange>> ranges_;  // Of the indices of one body.
  bool refused_ = false;
};

}  // namespace baton::compiler_lite::schedule
