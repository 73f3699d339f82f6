#include "compiler-lite/schedule/stepped_sums.hpp"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

namespace baton::compiler_lite::schedule {
namespace {

namespace arith = mlir::arith;
namespace linalg = mlir::linalg;
namespace tensor = mlir::tensor;
using mlir::Value;

bool is_zero(Value value) {
  if (mlir::matchPattern(value, mlir::m_AnyZeroFloat()) || mlir::matchPattern(value, mlir::m_Zero())) return true;
  auto fill = value.getDefiningOp<linalg::FillOp>();
  return fill && is_zero(fill.getInputs()[0]);
}

// Whether the body adds to its result what it multiplies `input` with, and does nothing else with it.
bool adds_products_of(linalg::GenericOp op, mlir::OpOperand* input) {
  if (op.getNumDpsInits() != 1) return false;
  mlir::BlockArgument element = op.getMatchingBlockArgument(input);
  if (!element.hasOneUse()) return false;
  mlir::Operation* product = *element.getUsers().begin();
  if (!llvm::isa<arith::MulFOp, arith::MulIOp>(product) || !product->hasOneUse()) return false;
  mlir::Operation* sum = *product->getUsers().begin();
  if (!llvm::isa<arith::AddFOp, arith::AddIOp>(sum)) return false;
  const mlir::BlockArgument result = op.getRegionOutputArgs()[0];
  return llvm::is_contained(sum->getOperands(), Value(result)) && result.hasOneUse() &&
         op.getBody()->getTerminator()->getOperand(0) == sum->getResult(0);
}

// For each dimension of the operand, the distance of its elements. Nothing when they do not begin at the first place,
// or no loop of the sum goes along them.
std::optional<llvm::SmallVector<int64_t>> distances(linalg::GenericOp op, mlir::OpOperand* input,
                                                    tensor::InsertSliceOp insert) {
  const mlir::AffineMap map = op.getMatchingIndexingMap(input);
  const llvm::ArrayRef<int64_t> steps = insert.getStaticStrides();
  const auto kinds = op.getIteratorTypesArray();
  llvm::SmallVector<bool> seen(op.getNumLoops(), false);
  for (unsigned i = 0; i < steps.size(); ++i) {
    const bool is_whole = steps[i] == 1 && insert.getSourceType().getDimSize(i) == insert.getDestType().getDimSize(i) &&
                          !insert.getDestType().isDynamicDim(i);
    const auto loop = llvm::dyn_cast<mlir::AffineDimExpr>(map.getResult(i));
    if (!is_whole) {
      if (!loop || kinds[loop.getPosition()] != mlir::utils::IteratorType::reduction) return std::nullopt;
      if (mlir::ShapedType::isDynamic(steps[i]) || steps[i] < 1 || insert.getStaticOffsets()[i] != 0)
        return std::nullopt;
    }
    if (loop && std::exchange(seen[loop.getPosition()], true)) return std::nullopt;
  }
  if (llvm::all_of(steps, [](int64_t step) { return step == 1; })) return std::nullopt;
  return llvm::SmallVector<int64_t>(steps);
}

struct TakeSteps final : mlir::OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;

  mlir::LogicalResult matchAndRewrite(linalg::GenericOp op, mlir::PatternRewriter& rewriter) const override {
    if (op.getNumReductionLoops() == 0 || !op.hasPureTensorSemantics() || op.hasIndexSemantics())
      return mlir::failure();
    for (mlir::OpOperand* input : op.getDpsInputOperands()) {
      auto insert = input->get().getDefiningOp<tensor::InsertSliceOp>();
      if (!insert || insert.getSourceType().getRank() != insert.getDestType().getRank()) continue;
      if (!is_zero(insert.getDest()) || !adds_products_of(op, input)) continue;
      if (const auto found = distances(op, input, insert)) return rewrite(op, input, insert, *found, rewriter);
    }
    return mlir::failure();
  }

 private:
  static mlir::LogicalResult rewrite(linalg::GenericOp op, mlir::OpOperand* input, tensor::InsertSliceOp insert,
                                     llvm::ArrayRef<int64_t> distances, mlir::PatternRewriter& rewriter) {
    llvm::SmallVector<mlir::AffineExpr> places;
    for (unsigned loop = 0; loop < op.getNumLoops(); ++loop) places.push_back(rewriter.getAffineDimExpr(loop));
    const mlir::AffineMap along = op.getMatchingIndexingMap(input);
    for (const auto& [expression, distance] : llvm::zip_equal(along.getResults(), distances)) {
      const auto loop = llvm::dyn_cast<mlir::AffineDimExpr>(expression);
      if (loop) places[loop.getPosition()] = loop * distance;
    }
    const auto stepped = mlir::AffineMap::get(op.getNumLoops(), 0, places, rewriter.getContext());
    llvm::SmallVector<mlir::AffineMap> maps;
    for (mlir::OpOperand& operand : op->getOpOperands()) {
      const mlir::AffineMap map = op.getMatchingIndexingMap(&operand);
      maps.push_back(&operand == input ? map : mlir::simplifyAffineMap(map.compose(stepped)));
    }
    // Another operand may have told how far such a loop goes; now this one does.
    rewriter.modifyOpInPlace(op, [&] {
      input->set(insert.getSource());
      op.setIndexingMapsAttr(rewriter.getAffineMapArrayAttr(maps));
    });
    return mlir::success();
  }
};

}  // namespace

void populate_stepped_sum_patterns(mlir::RewritePatternSet& patterns) {
  patterns.add<TakeSteps>(patterns.getContext());
}

}  // namespace baton::compiler_lite::schedule
