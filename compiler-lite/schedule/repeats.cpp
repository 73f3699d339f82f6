#include "compiler-lite/schedule/repeats.hpp"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace baton::compiler_lite::schedule {
namespace {

namespace linalg = mlir::linalg;
namespace tensor = mlir::tensor;

// Hands on its only input, of fewer dimensions.
bool is_repeat(mlir::Operation* op) {
  auto repeat = llvm::dyn_cast_or_null<linalg::GenericOp>(op);
  if (!repeat || repeat.getNumDpsInputs() != 1 || repeat.getNumReductionLoops() != 0 || !repeat->hasOneUse())
    return false;
  const mlir::Value handed_on = repeat.getBody()->getTerminator()->getOperand(0);
  return handed_on == repeat.getBody()->getArgument(0) &&
         repeat.getIndexingMapsArray()[0].getNumResults() < repeat.getNumLoops();
}

bool reads_repeats(mlir::OpOperand* operand) {
  auto reader = llvm::dyn_cast<linalg::GenericOp>(operand->getOwner());
  auto narrow = operand->get().getDefiningOp<tensor::CollapseShapeOp>();
  return reader && reader.getNumReductionLoops() == 0 && !reader.hasIndexSemantics() && narrow && narrow->hasOneUse() &&
         narrow.getSrcType().hasStaticShape() && is_repeat(narrow.getSrc().getDefiningOp());
}

}  // namespace

void populate_repeat_patterns(mlir::RewritePatternSet& patterns) {
  linalg::populateFoldReshapeOpsByExpansionPatterns(patterns, reads_repeats);
}

}  // namespace baton::compiler_lite::schedule
