#include "compiler-lite/schedule/computed_parts.hpp"

#include "compiler-lite/codegen/fusion_rules.hpp"
#include "compiler-lite/codegen/index_checks.hpp"
#include "compiler-lite/schedule/tensors.hpp"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

namespace baton::compiler_lite::schedule {
namespace {

namespace arith = mlir::arith;
namespace linalg = mlir::linalg;
namespace tensor = mlir::tensor;
using llvm::SmallVector;
using mlir::LogicalResult;
using mlir::RankedTensorType;
using mlir::Value;

linalg::GenericOp reader_of(tensor::ExtractOp extract) {
  auto reader = extract->getParentOfType<linalg::GenericOp>();
  if (!reader || !reader.hasPureTensorSemantics() || reader.getNumReductionLoops() != 0) return {};
  return reader->isAncestor(extract.getTensor().getParentBlock()->getParentOp()) ? linalg::GenericOp() : reader;
}

Value constant(mlir::OpBuilder& builder, mlir::Location where, int64_t number) {
  return builder.create<arith::ConstantIndexOp>(where, number);
}

// The dimension of each group that has more than one element, or the first; none where two have.
std::optional<SmallVector<int64_t>> long_dimensions(RankedTensorType type,
                                                    llvm::ArrayRef<mlir::ReassociationIndices> groups) {
  SmallVector<int64_t> found;
  for (const mlir::ReassociationIndices& group : groups) {
    if (group.empty()) return std::nullopt;
    int64_t chosen = group.front();
    for (const int64_t d : llvm::drop_begin(group)) {
      if (type.getDimSize(static_cast<unsigned>(d)) == 1) continue;
      if (type.getDimSize(static_cast<unsigned>(chosen)) != 1) return std::nullopt;
      chosen = d;
    }
    found.push_back(chosen);
  }
  return found;
}

// An element of a tensor that another one is a view of.
struct Place {
  Value tensor;
  SmallVector<Value> point;
};

std::optional<Place> in_source(mlir::OpBuilder& builder, tensor::ExtractOp extract, tensor::ExtractSliceOp slice) {
  for (const llvm::ArrayRef<int64_t> numbers :
       {slice.getStaticOffsets(), slice.getStaticStrides(), slice.getStaticSizes()}) {
    if (mlir::ShapedType::isDynamicShape(numbers)) return std::nullopt;
  }
  const mlir::Location where = extract.getLoc();
  const llvm::SmallBitVector dropped = slice.getDroppedDims();
  Place place{slice.getSource(), {}};
  auto index = extract.getIndices().begin();
  for (unsigned d = 0; d < dropped.size(); ++d) {
    const int64_t begin = slice.getStaticOffset(d), step = slice.getStaticStride(d);
    if (dropped.test(d)) {
      place.point.push_back(constant(builder, where, begin));
      continue;
    }
    Value at = *index++;
    if (step != 1) at = builder.create<arith::MulIOp>(where, at, constant(builder, where, step));
    if (begin != 0) at = builder.create<arith::AddIOp>(where, at, constant(builder, where, begin));
    place.point.push_back(at);
  }
  return place;
}

std::optional<Place> in_source(tensor::ExtractOp extract, tensor::ExpandShapeOp wide) {
  if (!has_static_shape(wide.getResult())) return std::nullopt;
  const auto longer = long_dimensions(wide.getResultType(), wide.getReassociationIndices());
  if (!longer) return std::nullopt;
  Place place{wide.getSrc(), {}};
  for (const int64_t d : *longer) place.point.push_back(extract.getIndices()[static_cast<size_t>(d)]);
  return place;
}

std::optional<Place> in_source(mlir::OpBuilder& builder, tensor::ExtractOp extract, tensor::CollapseShapeOp narrow) {
  if (!has_static_shape(narrow.getSrc())) return std::nullopt;
  const auto longer = long_dimensions(narrow.getSrcType(), narrow.getReassociationIndices());
  if (!longer) return std::nullopt;
  const Value zero = constant(builder, extract.getLoc(), 0);
  Place place{narrow.getSrc(), SmallVector<Value>(static_cast<size_t>(narrow.getSrcType().getRank()), zero)};
  for (auto [d, index] : llvm::zip_equal(*longer, extract.getIndices())) place.point[static_cast<size_t>(d)] = index;
  return place;
}

struct ReadThroughShape : mlir::OpRewritePattern<tensor::ExtractOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tensor::ExtractOp extract, mlir::PatternRewriter& rewriter) const override {
    if (!codegen::is_part(extract) || !reader_of(extract)) return mlir::failure();
    std::optional<Place> place;
    if (auto slice = extract.getTensor().getDefiningOp<tensor::ExtractSliceOp>()) {
      place = in_source(rewriter, extract, slice);
    } else if (auto wide = extract.getTensor().getDefiningOp<tensor::ExpandShapeOp>()) {
      place = in_source(extract, wide);
    } else if (auto narrow = extract.getTensor().getDefiningOp<tensor::CollapseShapeOp>()) {
      place = in_source(rewriter, extract, narrow);
    }
    if (!place) return mlir::failure();
    auto other = rewriter.create<tensor::ExtractOp>(extract.getLoc(), place->tensor, place->point);
    codegen::mark_part(other);
    rewriter.replaceOp(extract, other);
    return mlir::success();
  }
};

// The input's element that belongs to a point of the loops is one, and its place needs no arithmetic.
bool is_plain(mlir::AffineMap map) {
  return llvm::all_of(map.getResults(), [](mlir::AffineExpr result) {
    return llvm::isa<mlir::AffineDimExpr, mlir::AffineConstantExpr>(result);
  });
}

bool is_elementwise(linalg::GenericOp op) {
  return op && op.hasPureTensorSemantics() && op.getNumResults() == 1 && op.getNumReductionLoops() == 0 &&
         op.getIndexingMapsArray().back().isIdentity() && !op.payloadUsesValueFromOperand(op.getDpsInitOperand(0)) &&
         llvm::all_of(op.getIndexingMapsArray(), is_plain) && has_static_shape(op.getResult(0)) &&
         !codegen::has_index_in_branch(op);
}

struct ComputePart : mlir::OpRewritePattern<tensor::ExtractOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tensor::ExtractOp extract, mlir::PatternRewriter& rewriter) const override {
    linalg::GenericOp reader = codegen::is_part(extract) ? reader_of(extract) : linalg::GenericOp();
    if (!reader) return mlir::failure();
    auto producer = extract.getTensor().getDefiningOp<linalg::GenericOp>();
    if (!is_elementwise(producer) || producer->getParentRegion() != reader->getParentRegion() ||
        !producer->hasOneUse() || !codegen::stays_small(producer, reader, extract.getTensor())) {
      return mlir::failure();
    }
    const mlir::OperandRange point = extract.getIndices();
    mlir::IRMapping values;
    for (mlir::OpOperand* input : producer.getDpsInputOperands()) {
      Value element = input->get();
      if (llvm::isa<RankedTensorType>(element.getType())) element = read(rewriter, producer, input, point);
      values.map(producer.getMatchingBlockArgument(input), element);
    }
    for (mlir::Operation& op : producer.getBody()->without_terminator()) {
      auto index = llvm::dyn_cast<linalg::IndexOp>(op);
      if (index) {
        values.map(index.getResult(), point[static_cast<unsigned>(index.getDim())]);
        continue;
      }
      rewriter.clone(op, values);
    }
    rewriter.replaceOp(extract, values.lookupOrDefault(producer.getBody()->getTerminator()->getOperand(0)));
    return mlir::success();
  }

 private:
  static Value read(mlir::PatternRewriter& rewriter, linalg::GenericOp producer, mlir::OpOperand* input,
                    mlir::ValueRange point) {
    SmallVector<Value> place;
    for (const mlir::AffineExpr result : producer.getMatchingIndexingMap(input).getResults()) {
      if (auto loop = llvm::dyn_cast<mlir::AffineDimExpr>(result)) {
        place.push_back(point[loop.getPosition()]);
      } else {
        place.push_back(constant(rewriter, producer.getLoc(), llvm::cast<mlir::AffineConstantExpr>(result).getValue()));
      }
    }
    auto element = rewriter.create<tensor::ExtractOp>(producer.getLoc(), input->get(), place);
    codegen::mark_inside(element);
    return element;
  }
};

}  // namespace

void populate_computed_part_patterns(mlir::RewritePatternSet& patterns) {
  patterns.add<ReadThroughShape, ComputePart>(patterns.getContext());
}

}  // namespace baton::compiler_lite::schedule
