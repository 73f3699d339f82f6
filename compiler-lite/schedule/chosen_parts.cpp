#include "compiler-lite/schedule/chosen_parts.hpp"

#include "compiler-lite/schedule/tensors.hpp"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/PatternMatch.h"

namespace baton::compiler_lite::schedule {
namespace {

namespace arith = mlir::arith;
namespace linalg = mlir::linalg;
namespace scf = mlir::scf;
namespace tensor = mlir::tensor;
using llvm::SmallVector;
using mlir::LogicalResult;
using mlir::OpFoldResult;
using mlir::Value;

// The operation whose body reads, itself and not in a branch, an element of a tensor from outside.
linalg::GenericOp reader_of(tensor::ExtractOp extract) {
  auto reader = llvm::dyn_cast<linalg::GenericOp>(extract->getParentOp());
  return reader && reader.hasPureTensorSemantics() && has_static_shape(extract.getTensor()) ? reader
                                                                                            : linalg::GenericOp();
}

// Follows the body of what put tensors together to the element that stands at one place.
class Choice {
 public:
  Choice(linalg::GenericOp choice, mlir::ValueRange point) : choice_(choice), point_(point) {}

  // The read that the place decides on; none where something else does.
  tensor::ExtractOp chosen() const {
    Value value = choice_.getBody()->getTerminator()->getOperand(0);
    while (auto branch = value.getDefiningOp<scf::IfOp>()) {
      const std::optional<bool> holds = decide(branch.getCondition());
      if (!holds) return {};
      value = (*holds ? branch.thenYield() : branch.elseYield())
                  .getOperand(llvm::cast<mlir::OpResult>(value).getResultNumber());
    }
    return value.getDefiningOp<tensor::ExtractOp>();
  }

  // An index of the body, for this place.
  std::optional<OpFoldResult> index(Value value) const {
    if (auto loop = value.getDefiningOp<linalg::IndexOp>()) {
      return mlir::getAsOpFoldResult(point_[static_cast<unsigned>(loop.getDim())]);
    }
    if (const auto known = mlir::getConstantIntValue(value)) return constant(*known);
    auto less = value.getDefiningOp<arith::SubIOp>();
    if (!less) return std::nullopt;
    const auto from = number(less.getLhs()), by = number(less.getRhs());
    return from && by ? std::optional<OpFoldResult>(constant(*from - *by)) : std::nullopt;
  }

 private:
  OpFoldResult constant(int64_t value) const { return mlir::Builder(choice_.getContext()).getIndexAttr(value); }

  std::optional<int64_t> number(Value value) const {
    const std::optional<OpFoldResult> found = index(value);
    return found ? mlir::getConstantIntValue(*found) : std::nullopt;
  }

  std::optional<bool> decide(Value condition) const {
    auto compare = condition.getDefiningOp<arith::CmpIOp>();
    if (!compare || compare.getPredicate() != arith::CmpIPredicate::ult) return std::nullopt;
    const auto at = number(compare.getLhs()), end = number(compare.getRhs());
    if (!at || !end || *at < 0 || *end < 0) return std::nullopt;
    return *at < *end;
  }

  mutable linalg::GenericOp choice_;
  mlir::ValueRange point_;
};

void replace(mlir::PatternRewriter& rewriter, tensor::ExtractOp extract, Value source,
             llvm::ArrayRef<OpFoldResult> at) {
  SmallVector<Value> point;
  for (const OpFoldResult each : at) {
    point.push_back(mlir::getValueOrCreateConstantIndexOp(rewriter, extract.getLoc(), each));
  }
  rewriter.replaceOpWithNewOp<tensor::ExtractOp>(extract, source, point);
}

bool is_for_all_places(linalg::GenericOp op) {
  return op && op.hasPureTensorSemantics() && op.getNumResults() == 1 && op.getNumReductionLoops() == 0 &&
         op.getIndexingMapsArray().back().isIdentity();
}

struct ReadChosenPart : mlir::OpRewritePattern<tensor::ExtractOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tensor::ExtractOp extract, mlir::PatternRewriter& rewriter) const override {
    auto source = extract.getTensor().getDefiningOp<linalg::GenericOp>();
    if (!reader_of(extract) || !is_for_all_places(source) || source.getNumDpsInputs() != 0) return mlir::failure();
    const Choice choice(source, extract.getIndices());
    tensor::ExtractOp part = choice.chosen();
    if (!part || source->isAncestor(part.getTensor().getParentBlock()->getParentOp())) return mlir::failure();
    SmallVector<OpFoldResult> at;
    for (const Value index : part.getIndices()) {
      const std::optional<OpFoldResult> known = choice.index(index);
      if (!known) return mlir::failure();
      at.push_back(*known);
    }
    replace(rewriter, extract, part.getTensor(), at);
    return mlir::success();
  }
};

// The same elements along more dimensions.
struct ReadRepeated : mlir::OpRewritePattern<tensor::ExtractOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tensor::ExtractOp extract, mlir::PatternRewriter& rewriter) const override {
    auto source = extract.getTensor().getDefiningOp<linalg::GenericOp>();
    if (!reader_of(extract) || !is_for_all_places(source) || source.getNumDpsInputs() != 1) return mlir::failure();
    mlir::OpOperand* input = source.getDpsInputOperand(0);
    const mlir::AffineMap map = source.getMatchingIndexingMap(input);
    const bool is_copy = source.getBody()->getTerminator()->getOperand(0) == source.getMatchingBlockArgument(input) &&
                         llvm::isa<mlir::RankedTensorType>(input->get().getType()) && map.isProjectedPermutation();
    if (!is_copy) return mlir::failure();
    SmallVector<OpFoldResult> at;
    for (unsigned i = 0; i < map.getNumResults(); ++i) {
      at.push_back(mlir::getAsOpFoldResult(extract.getIndices()[map.getDimPosition(i)]));
    }
    replace(rewriter, extract, input->get(), at);
    return mlir::success();
  }
};

// Each index is that of a loop of as many turns as there are elements, each of another loop.
std::optional<mlir::AffineMap> own_place(linalg::GenericOp reader, tensor::ExtractOp extract) {
  const SmallVector<int64_t> turns = reader.getStaticLoopRanges();
  SmallVector<mlir::AffineExpr> results;
  for (auto [index, size] : llvm::zip_equal(extract.getIndices(), extract.getTensor().getType().getShape())) {
    auto loop = index.getDefiningOp<linalg::IndexOp>();
    if (!loop || turns[static_cast<size_t>(loop.getDim())] != size) return std::nullopt;
    results.push_back(mlir::getAffineDimExpr(static_cast<unsigned>(loop.getDim()), reader.getContext()));
    if (llvm::is_contained(llvm::ArrayRef(results).drop_back(), results.back())) return std::nullopt;
  }
  return mlir::AffineMap::get(reader.getNumLoops(), 0, results, reader.getContext());
}

struct ReadAsOperand : mlir::OpRewritePattern<tensor::ExtractOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tensor::ExtractOp extract, mlir::PatternRewriter& rewriter) const override {
    linalg::GenericOp reader = reader_of(extract);
    if (!reader || reader.getNumReductionLoops() != 0) return mlir::failure();
    const std::optional<mlir::AffineMap> map = own_place(reader, extract);
    if (!map) return mlir::failure();
    rewriter.setInsertionPoint(reader);
    SmallVector<Value> inputs(reader.getInputs());
    SmallVector<mlir::AffineMap> maps = reader.getIndexingMapsArray();
    maps.insert(maps.begin() + static_cast<std::ptrdiff_t>(inputs.size()), *map);
    inputs.push_back(extract.getTensor());
    auto made = rewriter.create<linalg::GenericOp>(reader.getLoc(), reader.getResultTypes(), inputs,
                                                   reader.getOutputs(), maps, reader.getIteratorTypesArray());
    const Value element =
        reader.getBody()->insertArgument(static_cast<unsigned>(inputs.size()) - 1, extract.getType(), extract.getLoc());
    rewriter.replaceOp(extract, element);
    rewriter.inlineRegionBefore(reader.getRegion(), made.getRegion(), made.getRegion().end());
    rewriter.replaceOp(reader, made);
    return mlir::success();
  }
};

}  // namespace

void populate_chosen_part_patterns(mlir::RewritePatternSet& patterns) {
  patterns.add<ReadChosenPart, ReadRepeated, ReadAsOperand>(patterns.getContext());
}

}  // namespace baton::compiler_lite::schedule
