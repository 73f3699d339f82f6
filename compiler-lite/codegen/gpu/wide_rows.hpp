// Rows that a block reduces in accesses of several neighbours: what keys are multiplied by, sums along short rows.
//
// As many lanes as a row has accesses, up to a warp, share it; they join their parts through shuffles. Where one access each is
// all of a row, a thread has several rows on their way.
#pragma once

#include "compiler-lite/codegen/gpu/block.hpp"
#include "compiler-lite/codegen/gpu/wide_reads.hpp"

namespace baton::compiler_lite::codegen::gpu {

class WideRows {
 public:
  // Of an operation with `rows` results at most.
  WideRows(mlir::linalg::GenericOp op, llvm::ArrayRef<mlir::Operation*> combiners, llvm::ArrayRef<unsigned> parallel,
           llvm::ArrayRef<unsigned> reduction, int64_t rows, int64_t warp);

  // Whether several neighbours come with one access at all.
  bool fits() const { return accesses_ > 0; }
  // Whether they do where the operands lie, as i1.
  mlir::Value fits_here(mlir::OpBuilder& builder) { return reads_.are_aligned(builder); }
  void write(mlir::OpBuilder& builder, Block& block);

 private:
  // Where it is, and what was read there.
  struct Access {
    Values point;
    llvm::SmallVector<Values> loaded;
  };
  mlir::Value constant(mlir::OpBuilder& builder, int64_t value);
  Values point_of(mlir::ValueRange result, mlir::Value step) const;
  // The parts of this lane, of the row that `result` is.
  Values take_row(mlir::OpBuilder& builder, mlir::ValueRange result);
  Values take_steps(mlir::OpBuilder& builder, mlir::ValueRange result, mlir::Value begin, mlir::Value end,
                    int64_t at_once, mlir::ValueRange sums);
  Access begin_access(mlir::OpBuilder& builder, mlir::ValueRange result, mlir::Value number);
  Values take_access(mlir::OpBuilder& builder, const Access& access, mlir::ValueRange sums);
  Values beginning(mlir::OpBuilder& builder);
  void leave(mlir::OpBuilder& builder, mlir::ValueRange result, mlir::Value is_result, Values sums);

  mlir::linalg::GenericOp op_;
  mlir::Location location_;
  llvm::ArrayRef<mlir::Operation*> combiners_;
  llvm::SmallVector<unsigned> parallel_;
  unsigned step_;
  WideReads reads_;  // Along the steps.
  int64_t rows_;
  int64_t accesses_ = 0, sharers_ = 1;  // Of a row, and the threads that share them.
  mlir::Value sharer_;                  // This thread's number among them.
};

}  // namespace baton::compiler_lite::codegen::gpu
