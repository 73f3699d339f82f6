// Operations of others' programs that stand for a few of those that are scheduled: packing and softmax, which upstream
// takes apart, what flow says about whole tensors, and tensors of more parts than one kernel takes.
#include <numeric>

#include "compiler-lite/codegen/by_element.hpp"
#include "compiler-lite/codegen/index_checks.hpp"
#include "compiler-lite/dialects/flow/dialect.hpp"
#include "compiler-lite/dialects/util/dialect.hpp"
#include "compiler-lite/lower/decompose_loops.hpp"
#include "compiler-lite/lower/lower.hpp"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"

namespace baton::compiler_lite::lower {

using namespace mlir;  // NOLINT: this file rewrites MLIR.

namespace {

LogicalResult refuse(Operation* op, const Twine& why) {
  return emitError(op->getLoc()) << op->getName() << " is not lowered " << why << ".";
}

LogicalResult lower_softmax(IRRewriter& rewriter, linalg::SoftmaxOp op) {
  FailureOr<SmallVector<Value>> results = op.decomposeOperation(rewriter);
  if (failed(results)) return refuse(op, "in this form");
  rewriter.replaceOp(op, *results);
  return success();
}

LogicalResult lower_pack(IRRewriter& rewriter, tensor::PackOp op) {
  if (failed(linalg::lowerPack(rewriter, op))) pack_by_element(rewriter, op);
  return success();
}

LogicalResult lower_unpack(IRRewriter& rewriter, tensor::UnPackOp op) {
  if (failed(linalg::lowerUnPack(rewriter, op))) unpack_by_element(rewriter, op);
  return success();
}

// The constant stays behind a barrier, so that its sizes are not known.
LogicalResult lower_constant(IRRewriter& rewriter, flow::TensorDynamicConstantOp op) {
  const Value constant = rewriter.create<arith::ConstantOp>(op.getLoc(), op.getValue());
  if (!isa<RankedTensorType>(constant.getType())) return refuse(op, "for what is no tensor");
  const Value cast = rewriter.create<tensor::CastOp>(op.getLoc(), op.getType(), constant);
  rewriter.replaceOp(op, rewriter.create<util::OptimizationBarrierOp>(op.getLoc(), cast));
  return success();
}

LogicalResult lower_bitcast(IRRewriter& rewriter, flow::TensorBitcastOp op) {
  const auto from = op.getSource().getType(), to = op.getResult().getType();
  if (from.getShape() != to.getShape() || from.getElementTypeBitWidth() != to.getElementTypeBitWidth()) {
    return refuse(op, "between elements of different sizes; reshape or bitcast to one of the same size");
  }
  rewriter.replaceOpWithNewOp<tensor::BitcastOp>(op, to, op.getSource());
  return success();
}

LogicalResult lower_reshape(IRRewriter& rewriter, flow::TensorReshapeOp op) {
  const RankedTensorType type = op.getResult().getType();
  SmallVector<Value> sizes;
  auto dynamic = op.getResultDims().begin();
  for (const int64_t size : type.getShape()) {
    sizes.push_back(ShapedType::isDynamic(size)
                        ? *dynamic++
                        : rewriter.create<arith::ConstantIndexOp>(op.getLoc(), size).getResult());
  }
  if (sizes.empty()) {
    rewriter.replaceOpWithNewOp<tensor::CollapseShapeOp>(op, type, op.getSource(), ArrayRef<ReassociationIndices>{});
    return success();
  }
  const Value shape = rewriter.create<tensor::FromElementsOp>(op.getLoc(), sizes);
  rewriter.replaceOpWithNewOp<tensor::ReshapeOp>(op, type, op.getSource(), shape);
  return success();
}

// The sizes of a tensor: those that its type says, and of the others these, in their order or, where there is one for each dimension, by it.
SmallVector<OpFoldResult> sizes_of(RankedTensorType type, ValueRange values) {
  const bool is_one_for_each = values.size() == static_cast<size_t>(type.getRank());
  SmallVector<OpFoldResult> sizes = getAsIndexOpFoldResult(type.getContext(), type.getShape());
  for (size_t i = 0, next = 0; i < sizes.size(); ++i) {
    if (type.isDynamicDim(static_cast<unsigned>(i))) sizes[i] = values[is_one_for_each ? i : next++];
  }
  return sizes;
}

LogicalResult lower_slice(IRRewriter& rewriter, flow::TensorSliceOp op) {
  const RankedTensorType type = op.getResult().getType();
  const SmallVector<OpFoldResult> strides(op.getStartIndices().size(), rewriter.getIndexAttr(1));
  rewriter.replaceOpWithNewOp<tensor::ExtractSliceOp>(op, type, op.getSource(), getAsOpFoldResult(op.getStartIndices()),
                                                      sizes_of(type, op.getLengths()), strides);
  return success();
}

LogicalResult lower_update(IRRewriter& rewriter, flow::TensorUpdateOp op) {
  const SmallVector<OpFoldResult> strides(op.getStartIndices().size(), rewriter.getIndexAttr(1));
  rewriter.replaceOpWithNewOp<tensor::InsertSliceOp>(op, op.getUpdate(), op.getTarget(),
                                                     getAsOpFoldResult(op.getStartIndices()),
                                                     sizes_of(op.getUpdate().getType(), op.getUpdateDims()), strides);
  return success();
}

// One element, everywhere or at one place, and tensors that say nothing of theirs.
void lower_flow(IRRewriter& rewriter, Operation* op) {
  if (isa<flow::TensorTieShapeOp, flow::TensorCloneOp>(op)) {
    rewriter.replaceOp(op, op->getOperand(0));
  } else if (auto load = dyn_cast<flow::TensorLoadOp>(op)) {
    rewriter.replaceOpWithNewOp<tensor::ExtractOp>(op, load.getSource(), load.getIndices());
  } else if (auto store = dyn_cast<flow::TensorStoreOp>(op)) {
    rewriter.replaceOpWithNewOp<tensor::InsertOp>(op, store.getValue(), store.getTarget(), store.getIndices());
  } else if (auto splat = dyn_cast<flow::TensorSplatOp>(op)) {
    rewriter.replaceOpWithNewOp<tensor::SplatOp>(op, splat.getResult().getType(), splat.getValue(),
                                                 splat.getResultDims());
  } else {
    rewriter.replaceOpWithNewOp<tensor::EmptyOp>(op, cast<RankedTensorType>(op->getResult(0).getType()),
                                                 op->getOperands());
  }
}

// What one kernel puts together; its tensors are bindings, its scalars and unknown sizes words.
constexpr size_t kPartsMax = 16;

// The element at `point` of parts that begin with one that reaches from `begin` on.
Value element_of(OpBuilder& builder, Location where, ValueRange parts, uint64_t dimension, int64_t begin,
                 SmallVector<Value> point) {
  const Value along = point[dimension];
  const int64_t end =
      begin + cast<RankedTensorType>(parts.front().getType()).getDimSize(static_cast<unsigned>(dimension));
  const auto of_first = [&](OpBuilder& inside) -> Value {
    if (begin > 0) {
      const Value first = inside.create<arith::ConstantIndexOp>(where, begin);
      point[dimension] = inside.create<arith::SubIOp>(where, along, first);
    }
    auto element = inside.create<tensor::ExtractOp>(where, parts.front(), point);
    codegen::mark_part(element);  // The choice of the part has seen to it.
    return element;
  };
  if (parts.size() == 1) return of_first(builder);
  const Value is_first = builder.create<arith::CmpIOp>(where, arith::CmpIPredicate::ult, along,
                                                       builder.create<arith::ConstantIndexOp>(where, end));
  auto choice = builder.create<scf::IfOp>(
      where, is_first, [&](OpBuilder& inside, Location at) { inside.create<scf::YieldOp>(at, of_first(inside)); },
      [&](OpBuilder& inside, Location at) {
        point[dimension] = along;
        inside.create<scf::YieldOp>(at, element_of(inside, at, parts.drop_front(), dimension, end, point));
      });
  return choice.getResult(0);
}

// What one kernel puts together: where sizes are known, element by element, so that the work is divided among workgroups.
Value join_few(IRRewriter& rewriter, Location where, uint64_t dimension, ArrayRef<Value> parts, RankedTensorType type) {
  const bool is_static = type.hasStaticShape() && llvm::all_of(parts, [](Value part) {
                           return cast<RankedTensorType>(part.getType()).hasStaticShape();
                         });
  if (!is_static) return rewriter.create<tensor::ConcatOp>(where, type, dimension, parts);
  auto joined = codegen::make_by_element(rewriter, where, getAsIndexOpFoldResult(type.getContext(), type.getShape()),
                                         type.getElementType(), {}, [&](OpBuilder& builder, Location at, ValueRange) {
                                           const auto point = codegen::this_element(
                                               builder, at, static_cast<unsigned>(type.getRank()));
                                           return element_of(builder, at, parts, dimension, 0, point);
                                         });
  return joined.getResult(0);
}

// More parts than one kernel takes are put together by several, and then those.
Value join(IRRewriter& rewriter, Location where, uint64_t dimension, ArrayRef<Value> parts, RankedTensorType type) {
  SmallVector<Value> joined;
  for (; parts.size() > kPartsMax; parts = parts.drop_front(std::min(parts.size(), kPartsMax))) {
    const ArrayRef<Value> few = parts.take_front(kPartsMax);
    SmallVector<Type> types;
    for (const Value part : few) types.push_back(part.getType());
    joined.push_back(join_few(rewriter, where, dimension, few,
                              tensor::ConcatOp::inferResultType(static_cast<int64_t>(dimension), types)));
  }
  joined.append(parts.begin(), parts.end());
  if (joined.size() > kPartsMax) return join(rewriter, where, dimension, joined, type);
  return join_few(rewriter, where, dimension, joined, type);
}

LogicalResult lower_concat(IRRewriter& rewriter, tensor::ConcatOp op) {
  const SmallVector<Value> parts(op.getInputs());
  rewriter.replaceOp(op, join(rewriter, op.getLoc(), op.getDim(), parts, op.getType()));
  return success();
}

LogicalResult lower_from_elements(IRRewriter& rewriter, tensor::FromElementsOp op) {
  const ValueRange elements = op.getElements();
  if (elements.size() <= kPartsMax || isa<IndexType>(op.getType().getElementType())) return success();
  SmallVector<Value> parts;
  for (size_t i = 0; i < elements.size(); i += kPartsMax) {
    const auto few = elements.slice(i, std::min(kPartsMax, elements.size() - i));
    parts.push_back(rewriter.create<tensor::FromElementsOp>(op.getLoc(), few));
  }
  const auto flat = RankedTensorType::get({static_cast<int64_t>(elements.size())}, op.getType().getElementType());
  const Value all = join(rewriter, op.getLoc(), 0, parts, flat);
  if (op.getType().getRank() == 1) {
    rewriter.replaceOp(op, all);
    return success();
  }
  ReassociationIndices dimensions(static_cast<size_t>(op.getType().getRank()));
  std::iota(dimensions.begin(), dimensions.end(), 0);
  rewriter.replaceOpWithNewOp<tensor::ExpandShapeOp>(op, op.getType(), all, ArrayRef<ReassociationIndices>(dimensions));
  return success();
}

LogicalResult lower(IRRewriter& rewriter, Operation* op) {
  rewriter.setInsertionPoint(op);
  if (auto each = dyn_cast<tensor::ConcatOp>(op)) return lower_concat(rewriter, each);
  if (auto each = dyn_cast<tensor::FromElementsOp>(op)) return lower_from_elements(rewriter, each);
  if (auto each = dyn_cast<linalg::SoftmaxOp>(op)) return lower_softmax(rewriter, each);
  if (auto each = dyn_cast<tensor::PackOp>(op)) return lower_pack(rewriter, each);
  if (auto each = dyn_cast<tensor::UnPackOp>(op)) return lower_unpack(rewriter, each);
  if (auto each = dyn_cast<tensor::ScatterOp>(op)) return lower_scatter(rewriter, each);
  if (auto each = dyn_cast<scf::ForallOp>(op)) return lower_forall(rewriter, each);
  if (auto each = dyn_cast<flow::TensorDynamicConstantOp>(op)) return lower_constant(rewriter, each);
  if (auto each = dyn_cast<flow::TensorBitcastOp>(op)) return lower_bitcast(rewriter, each);
  if (auto each = dyn_cast<flow::TensorReshapeOp>(op)) return lower_reshape(rewriter, each);
  if (auto each = dyn_cast<flow::TensorSliceOp>(op)) return lower_slice(rewriter, each);
  if (auto each = dyn_cast<flow::TensorUpdateOp>(op)) return lower_update(rewriter, each);
  lower_flow(rewriter, op);
  return success();
}

}  // namespace

LogicalResult decompose(ModuleOp module) {
  if (failed(lower_winograd(module))) return failure();
  SmallVector<Operation*> all;
  module.walk([&](Operation* op) {
    if (auto extract = dyn_cast<tensor::ExtractOp>(op)) codegen::forget_marks(extract);
    if (isa<linalg::SoftmaxOp, tensor::PackOp, tensor::UnPackOp, tensor::ConcatOp, tensor::FromElementsOp,
            tensor::ScatterOp, scf::ForallOp, flow::TensorTieShapeOp, flow::TensorDynamicConstantOp,
            flow::TensorBitcastOp, flow::TensorReshapeOp, flow::TensorSliceOp, flow::TensorUpdateOp, flow::TensorLoadOp,
            flow::TensorStoreOp, flow::TensorSplatOp, flow::TensorEmptyOp, flow::TensorAllocaOp, flow::TensorCloneOp>(
            op)) {
      all.push_back(op);
    }
  });
  IRRewriter rewriter(module.getContext());
  for (Operation* op : all) {
    if (failed(lower(rewriter, op))) return failure();
  }
  return success();
}

}  // namespace baton::compiler_lite::lower
