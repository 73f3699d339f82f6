// DividedReduction: a reduction with one of its loops divided into parts of one length, each the work of workgroups of its own,
// and what joins the parts.
//
// The results of the parts have one more dimension, the first: the part. A part begins with what the caller says, which
// must change nothing.
#pragma once

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/PatternMatch.h"

namespace baton::compiler_lite::schedule {

class DividedReduction {
 public:
  // Whether the loop moves each operand along one dimension that nothing else moves, and no result. `with_others`: one
  // operand at least so, and the others may be moved by other loops along the same dimension.
  static bool can_divide(mlir::linalg::LinalgOp op, unsigned loop, bool with_others = false);

  DividedReduction(mlir::IRRewriter& rewriter, mlir::linalg::LinalgOp op, unsigned loop, int64_t parts)
      : rewriter_(rewriter), op_(op), location_(op.getLoc()), loop_(loop), parts_(parts) {}

  // The parts, before `op`; each result begins with the value of its place.
  mlir::linalg::GenericOp make_parts(mlir::ValueRange begin);
  // Writes a body's results: of one part (first) and of what was joined so far (second).
  using Join = llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::OpBuilder&, mlir::ValueRange, mlir::ValueRange)>;
  // The parts joined with what `op` began with, in its place.
  mlir::linalg::GenericOp join_parts(mlir::linalg::GenericOp made, Join join);

 private:
  mlir::AffineExpr dimension(unsigned loop) { return mlir::getAffineDimExpr(loop, op_.getContext()); }
  mlir::AffineMap map_of(unsigned loops, llvm::ArrayRef<mlir::AffineExpr> results) {
    return mlir::AffineMap::get(loops, 0, results, op_.getContext());
  }
  mlir::Value divide(mlir::OpOperand& input, llvm::SmallVector<mlir::AffineExpr>& map);
  mlir::Value make_init(mlir::OpOperand& init, mlir::Value begin);
  void number_as_before(mlir::linalg::IndexOp index);

  mlir::IRRewriter& rewriter_;
  mlir::linalg::LinalgOp op_;
  mlir::Location location_;
  unsigned loop_;
  int64_t parts_;
};

}  // namespace baton::compiler_lite::schedule
