#include "compiler-lite/schedule/divided_reduction.hpp"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace baton::compiler_lite::schedule {

namespace arith = mlir::arith;
namespace linalg = mlir::linalg;
namespace tensor = mlir::tensor;
using llvm::SmallVector;
using mlir::AffineExpr;
using mlir::Value;

bool DividedReduction::can_divide(linalg::LinalgOp op, unsigned loop, bool with_others) {
  const AffineExpr own = mlir::getAffineDimExpr(loop, op.getContext());
  bool is_alone = false;
  for (mlir::OpOperand& operand : op->getOpOperands()) {
    const mlir::AffineMap map = op.getMatchingIndexingMap(&operand);
    const int64_t moved = llvm::count_if(map.getResults(), [&](AffineExpr each) { return each.isFunctionOfDim(loop); });
    if (moved == 0) continue;
    const bool is_alone_here = llvm::is_contained(map.getResults(), own);
    if (op.isDpsInit(&operand) || moved > 1 || !(is_alone_here || with_others)) return false;
    is_alone = is_alone || is_alone_here;
  }
  return is_alone || !with_others;
}

// The loop over parts is the first: results side by side stay the work of threads side by side.
linalg::GenericOp DividedReduction::make_parts(mlir::ValueRange begin) {
  rewriter_.setInsertionPoint(op_);
  const unsigned loops = op_.getNumLoops() + 1;
  SmallVector<mlir::AffineMap> maps;
  SmallVector<Value> inputs, inits;
  for (mlir::OpOperand* input : op_.getDpsInputOperands()) {
    SmallVector<AffineExpr> map;
    inputs.push_back(divide(*input, map));
    maps.push_back(map_of(loops, map));
  }
  for (const auto& [init, value] : llvm::zip_equal(op_.getDpsInitsMutable(), begin)) {
    SmallVector<AffineExpr> map{dimension(0)};
    for (const AffineExpr result : op_.getMatchingIndexingMap(&init).getResults()) {
      map.push_back(result.shiftDims(op_.getNumLoops(), 1));
    }
    maps.push_back(map_of(loops, map));
    inits.push_back(make_init(init, value));
  }
  SmallVector<mlir::utils::IteratorType> kinds = op_.getIteratorTypesArray();
  kinds.insert(kinds.begin(), mlir::utils::IteratorType::parallel);
  auto made =
      rewriter_.create<linalg::GenericOp>(location_, mlir::ValueRange(inits).getTypes(), inputs, inits, maps, kinds);
  rewriter_.cloneRegionBefore(op_->getRegion(0), made.getRegion(), made.getRegion().begin());
  made.walk([&](linalg::IndexOp index) { number_as_before(index); });
  return made;
}

// An input, its dimension along which parts lie as two; where other loops move along it, too, it stays one.
Value DividedReduction::divide(mlir::OpOperand& input, SmallVector<AffineExpr>& map) {
  const auto type = llvm::cast<mlir::RankedTensorType>(input.get().getType());
  SmallVector<int64_t> shape;
  SmallVector<mlir::ReassociationIndices> groups;
  const mlir::AffineMap old = op_.getMatchingIndexingMap(&input);
  for (unsigned d = 0; d < old.getNumResults(); ++d) {
    const auto place = static_cast<int64_t>(shape.size());
    if (old.getResult(d) == dimension(loop_)) {
      map.append({dimension(0), dimension(loop_ + 1)});
      shape.append({parts_, type.getDimSize(d) / parts_});
      groups.push_back({place, place + 1});
    } else {
      AffineExpr moved = old.getResult(d).shiftDims(op_.getNumLoops(), 1);
      if (old.getResult(d).isFunctionOfDim(loop_)) {
        const AffineExpr inner = dimension(loop_ + 1);
        moved = moved.replace(inner, dimension(0) * (op_.getStaticLoopRanges()[loop_] / parts_) + inner);
      }
      map.push_back(moved);
      shape.push_back(type.getDimSize(d));
      groups.push_back({place});
    }
  }
  if (static_cast<int64_t>(shape.size()) == type.getRank()) return input.get();
  const auto divided = mlir::RankedTensorType::get(shape, type.getElementType());
  return rewriter_.create<tensor::ExpandShapeOp>(location_, divided, input.get(), groups);
}

Value DividedReduction::make_init(mlir::OpOperand& init, Value begin) {
  const auto type = llvm::cast<mlir::RankedTensorType>(init.get().getType());
  SmallVector<int64_t> shape{parts_};
  llvm::append_range(shape, type.getShape());
  const Value empty = rewriter_.create<tensor::EmptyOp>(location_, shape, type.getElementType());
  return rewriter_.create<linalg::FillOp>(location_, begin, empty).getResult(0);
}

// The body asks for the step of the whole loop.
void DividedReduction::number_as_before(linalg::IndexOp index) {
  const auto loop = static_cast<unsigned>(index.getDim());
  const mlir::OpBuilder::InsertionGuard guard(rewriter_);
  rewriter_.setInsertionPoint(index);
  Value number = rewriter_.create<linalg::IndexOp>(location_, loop + 1);
  if (loop == loop_) {
    const int64_t length = op_.getStaticLoopRanges()[loop_] / parts_;
    const Value part = rewriter_.create<linalg::IndexOp>(location_, 0);
    const Value steps = rewriter_.create<arith::ConstantIndexOp>(location_, length);
    const Value before = rewriter_.create<arith::MulIOp>(location_, part, steps);
    number = rewriter_.create<arith::AddIOp>(location_, before, number);
  }
  rewriter_.replaceOp(index, number);
}

linalg::GenericOp DividedReduction::join_parts(linalg::GenericOp made, Join join) {
  // The loops of the results, in the order in which they stood, then the parts.
  SmallVector<AffineExpr> places(op_.getNumLoops());
  SmallVector<mlir::utils::IteratorType> kinds;
  for (const auto& [loop, kind] : llvm::enumerate(op_.getIteratorTypesArray())) {
    if (kind != mlir::utils::IteratorType::parallel) continue;
    places[loop] = dimension(static_cast<unsigned>(kinds.size()));
    kinds.push_back(kind);
  }
  const auto part = static_cast<unsigned>(kinds.size());
  kinds.push_back(mlir::utils::IteratorType::reduction);
  SmallVector<mlir::AffineMap> read, written;
  for (mlir::OpOperand& init : op_.getDpsInitsMutable()) {
    SmallVector<AffineExpr> map{dimension(part)};
    for (const AffineExpr result : op_.getMatchingIndexingMap(&init).getResults()) {
      map.push_back(places[llvm::cast<mlir::AffineDimExpr>(result).getPosition()]);
    }
    read.push_back(map_of(part + 1, map));
    written.push_back(map_of(part + 1, llvm::ArrayRef(map).drop_front()));
  }
  llvm::append_range(read, written);
  const unsigned results = static_cast<unsigned>(op_.getNumDpsInits());
  rewriter_.setInsertionPoint(op_);
  return rewriter_.create<linalg::GenericOp>(
      location_, op_->getResultTypes(), made.getResults(), op_.getDpsInits(), read, kinds,
      [&](mlir::OpBuilder& body, mlir::Location at, mlir::ValueRange values) {
        body.create<linalg::YieldOp>(at, join(body, values.take_front(results), values.drop_front(results)));
      });
}

}  // namespace baton::compiler_lite::schedule
