// WideReads: the inputs of an operation, read by a thread in accesses of several neighbours along one loop.
#pragma once

#include "compiler-lite/codegen/gpu/loop_body.hpp"

namespace baton::compiler_lite::codegen::gpu {

class WideReads {
 public:
  WideReads(mlir::linalg::GenericOp op, unsigned loop);

  // How many neighbours come with one access; 1: some input lies another way.
  int64_t lanes() const { return lanes_; }
  // Whether the inputs lie so that they do, as i1.
  mlir::Value are_aligned(mlir::OpBuilder& builder) const;

  // Reads the elements of each input from `point` on, one for each lane.
  llvm::SmallVector<Values> load(mlir::OpBuilder& builder, const Values& point) const;
  // What the body yields for those of one lane, with `outs` for what the results hold.
  Values compute(mlir::OpBuilder& builder, Values point, int64_t lane, llvm::ArrayRef<Values> loaded,
                 mlir::ValueRange outs) const;

 private:
  bool goes_along(mlir::OpOperand& input) const;

  mutable mlir::linalg::GenericOp op_;
  mlir::Location location_;
  unsigned loop_;
  int64_t lanes_ = 1;
};

}  // namespace baton::compiler_lite::codegen::gpu
