// Vectors: several neighbours at once of an operation on elements, with one access for each operand.
#pragma once

#include "compiler-lite/codegen/gpu/accesses.hpp"

namespace baton::compiler_lite::codegen::gpu {

// How an operand is read while one loop makes a step.
enum class Step { kSame, kNext, kElsewhere };

Step step_of(mlir::linalg::GenericOp op, mlir::OpOperand& operand, unsigned loop);

class Vectors {
 public:
  // Of `lanes` elements along `loop`, which results are written along.
  Vectors(mlir::OpBuilder& builder, mlir::linalg::GenericOp op, unsigned loop, int64_t lanes);

  // Bits that must be zero in the addresses.
  mlir::Value unaligned(mlir::OpBuilder& builder);
  mlir::Value are_aligned(mlir::OpBuilder& builder);
  // The elements from `point` on. What is in `given` for an operand, one value for each element, isn't read.
  void write(mlir::OpBuilder& builder, const Values& point, llvm::ArrayRef<Values> given);

 private:
  mlir::Value address(mlir::OpBuilder& builder, mlir::OpOperand& operand, const Values& point);
  Values compute_lane(mlir::OpBuilder& builder, Values point, int64_t lane, llvm::ArrayRef<Values> loaded);

  mlir::linalg::GenericOp op_;
  mlir::Location location_;
  unsigned loop_;
  int64_t lanes_;
  llvm::SmallVector<Memory> memories_;  // Without a base for what isn't read element by element.
};

}  // namespace baton::compiler_lite::codegen::gpu
