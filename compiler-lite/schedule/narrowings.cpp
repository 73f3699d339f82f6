#include "compiler-lite/schedule/narrowings.hpp"

#include "compiler-lite/codegen/by_element.hpp"
#include "compiler-lite/schedule/tensors.hpp"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace baton::compiler_lite::schedule {
namespace {

namespace linalg = mlir::linalg;
namespace tensor = mlir::tensor;
using mlir::LogicalResult;
using mlir::Operation;
using mlir::RankedTensorType;
using mlir::Value;

int64_t bits_of(Value tensor) {
  const mlir::Type element = mlir::getElementTypeOrSelf(tensor.getType());
  return element.isIntOrFloat() ? element.getIntOrFloatBitWidth() : 0;
}

// One tensor to one of the same shape, of elements that are smaller.
bool is_narrowing(linalg::GenericOp op) {
  if (!op || !op.hasPureTensorSemantics() || op.getNumReductionLoops() != 0 || op.getNumDpsInputs() != 1 ||
      op.getNumResults() != 1 || op.payloadUsesValueFromOperand(op.getDpsInitOperand(0))) {
    return false;
  }
  const Value from = op.getInputs()[0], to = op.getResult(0);
  const auto type = llvm::dyn_cast<RankedTensorType>(from.getType());  // None: a number.
  if (!type || !type.hasStaticShape()) return false;
  if (bits_of(to) == 0 || bits_of(to) >= bits_of(from)) return false;
  if (!llvm::all_of(op.getIndexingMapsArray(), [](mlir::AffineMap map) { return map.isIdentity(); })) return false;
  // Numbers made of its element alone.
  return llvm::all_of(op.getBody()->getOperations(), [&](Operation& inner) {
    const bool is_arithmetic = llvm::isa<mlir::arith::ArithDialect>(inner.getDialect()) && inner.getNumRegions() == 0;
    const bool is_own =
        llvm::all_of(inner.getOperands(), [&](Value operand) { return operand.getParentBlock() == op.getBody(); });
    return (is_arithmetic || llvm::isa<linalg::YieldOp>(inner)) && is_own;
  });
}

// The same narrowing of all of `whole`.
Value narrow(mlir::PatternRewriter& rewriter, linalg::GenericOp like, Value whole) {
  const llvm::ArrayRef<int64_t> shape = llvm::cast<RankedTensorType>(whole.getType()).getShape();
  auto made = codegen::make_by_element(rewriter, like.getLoc(), mlir::getAsIndexOpFoldResult(like.getContext(), shape),
                                       mlir::getElementTypeOrSelf(like.getResult(0).getType()), whole,
                                       [&](mlir::OpBuilder& body, mlir::Location, mlir::ValueRange elements) {
                                         mlir::IRMapping values;
                                         values.map(like.getRegionInputArgs(), elements);
                                         for (Operation& op : like.getBody()->without_terminator())
                                           body.clone(op, values);
                                         return values.lookup(like.getBody()->getTerminator()->getOperand(0));
                                       });
  return made.getResult(0);
}

// The reshape is of what an operation made and no other one reads, so that the narrowing can join it.
template <typename Reshape>
struct NarrowBeforeReshape : mlir::OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(linalg::GenericOp op, mlir::PatternRewriter& rewriter) const override {
    if (!is_narrowing(op)) return mlir::failure();
    auto reshape = op.getInputs()[0].getDefiningOp<Reshape>();
    if (!reshape || !reshape->hasOneUse()) return mlir::failure();
    const Value whole = reshape.getSrc();
    if (!whole.hasOneUse() || !has_static_shape(whole) || !whole.getDefiningOp<linalg::LinalgOp>())
      return mlir::failure();
    const Value narrowed = narrow(rewriter, op, whole);
    rewriter.replaceOpWithNewOp<Reshape>(op, llvm::cast<RankedTensorType>(op.getResult(0).getType()), narrowed,
                                         reshape.getReassociationIndices());
    return mlir::success();
  }
};

struct NarrowBeforeSlices : mlir::OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(linalg::GenericOp op, mlir::PatternRewriter& rewriter) const override {
    if (!is_narrowing(op)) return mlir::failure();
    auto slice = op.getInputs()[0].getDefiningOp<tensor::ExtractSliceOp>();
    if (!slice) return mlir::failure();
    const Value whole = slice.getSource();
    if (!has_static_shape(whole)) return mlir::failure();
    int64_t elements = 0;
    llvm::SmallVector<linalg::GenericOp> readers;
    for (Operation* user : whole.getUsers()) {
      auto other = llvm::dyn_cast<tensor::ExtractSliceOp>(user);
      if (!other || !has_static_shape(other.getResult()) || !other.getResult().hasOneUse()) return mlir::failure();
      auto reader = llvm::dyn_cast<linalg::GenericOp>(*other.getResult().user_begin());
      if (!is_narrowing(reader) || !does_the_same(op, reader)) return mlir::failure();
      elements += other.getType().getNumElements();
      readers.push_back(reader);
    }
    // What is in no slice is narrowed for nothing.
    if (elements < llvm::cast<RankedTensorType>(whole.getType()).getNumElements()) return mlir::failure();
    rewriter.setInsertionPointAfterValue(whole);
    const Value narrowed = narrow(rewriter, op, whole);
    for (linalg::GenericOp reader : readers) {
      auto old = reader.getInputs()[0].getDefiningOp<tensor::ExtractSliceOp>();
      rewriter.setInsertionPoint(old);
      rewriter.replaceOpWithNewOp<tensor::ExtractSliceOp>(
          reader, llvm::cast<RankedTensorType>(reader.getResult(0).getType()), narrowed, old.getMixedOffsets(),
          old.getMixedSizes(), old.getMixedStrides());
    }
    return mlir::success();
  }

 private:
  static bool does_the_same(linalg::GenericOp one, linalg::GenericOp other) {
    return mlir::getElementTypeOrSelf(one.getResult(0).getType()) ==
               mlir::getElementTypeOrSelf(other.getResult(0).getType()) &&
           mlir::OperationEquivalence::isRegionEquivalentTo(&one.getRegion(), &other.getRegion(),
                                                            mlir::OperationEquivalence::IgnoreLocations);
  }
};

}  // namespace

void populate_narrowing_patterns(mlir::RewritePatternSet& patterns) {
  patterns.add<NarrowBeforeReshape<tensor::CollapseShapeOp>, NarrowBeforeReshape<tensor::ExpandShapeOp>,
               NarrowBeforeSlices>(patterns.getContext());
}

}  // namespace baton::compiler_lite::schedule
