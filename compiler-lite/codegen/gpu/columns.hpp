// Columns that a block reduces in accesses of several neighbours: what a matrix of one row is multiplied by.
//
// Of the columns of a tile a thread has a few neighbours, as many as one access takes; threads side by side have the tile's width, and
// groups of them take steps in turn. A warp joins its parts through shuffles, the block the warps' through shared memory.
#pragma once

#include "compiler-lite/codegen/gpu/block.hpp"
#include "compiler-lite/codegen/gpu/wide_reads.hpp"

namespace baton::compiler_lite::codegen::gpu {

// Of an operation that reduces `columns` results at most, whose loops are given with the fastest parallel one last.
class WideColumns {
 public:
  WideColumns(mlir::linalg::GenericOp op, llvm::ArrayRef<mlir::Operation*> combiners, llvm::ArrayRef<unsigned> parallel,
              llvm::ArrayRef<unsigned> reduction, int64_t columns);

  // Whether several neighbours come with one access at all.
  bool fits() const { return reads_.lanes() > 1; }
  // Whether they do where the tile and the operands lie, as i1.
  mlir::Value fits_here(mlir::OpBuilder& builder);
  void write(mlir::OpBuilder& builder, Block& block);

 private:
  mlir::Value constant(mlir::OpBuilder& builder, int64_t value);
  int64_t steps_at_once(int64_t parts) const;
  Values point_of(mlir::ValueRange results, mlir::ValueRange steps) const;
  Values take_steps(mlir::OpBuilder& builder, mlir::ValueRange result, mlir::Value begin, mlir::Value end,
                    int64_t parts, int64_t at_once, mlir::ValueRange sums);
  Values take_step(mlir::OpBuilder& builder, const Values& point, llvm::ArrayRef<Values> loaded, mlir::ValueRange sums);
  void join_warps(mlir::OpBuilder& builder, Block& block, mlir::Value first, mlir::Value results, Values sums);

  mlir::linalg::GenericOp op_;
  mlir::Location location_;
  llvm::ArrayRef<mlir::Operation*> combiners_;
  llvm::SmallVector<unsigned> parallel_, reduction_;
  WideReads reads_;     // Along the columns.
  int64_t across_ = 1;  // Threads side by side.
  Values parallel_sizes_, reduction_sizes_;
  mlir::Value column_;  // The first of this thread's, in the tile.
};

}  // namespace baton::compiler_lite::codegen::gpu
