#include "compiler-lite/schedule/reorder.hpp"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace baton::compiler_lite::schedule {

namespace linalg = mlir::linalg;
namespace tensor = mlir::tensor;
using mlir::Value;

std::optional<unsigned> dimension_of(mlir::AffineMap map, unsigned loop) {
  return map.getResultPosition(mlir::getAffineDimExpr(loop, map.getContext()));
}

bool has_window_along(mlir::AffineMap map, unsigned loop) {
  return llvm::any_of(map.getResults(), [&](mlir::AffineExpr each) {
    return !llvm::isa<mlir::AffineDimExpr>(each) && each.isFunctionOfDim(loop);
  });
}

Order order_with(unsigned rank, llvm::ArrayRef<int64_t> last) {
  Order order;
  for (int64_t d = 0; d < rank; ++d) {
    if (!llvm::is_contained(last, d)) order.push_back(d);
  }
  order.append(last.begin(), last.end());
  return order;
}

Value Transposer::transpose(Value value, const Order& order) {
  if (mlir::isIdentityPermutation(order)) return value;
  if (auto pad = value.getDefiningOp<tensor::PadOp>(); pad && pad.getConstantPaddingValue()) {
    return rewriter_.create<tensor::PadOp>(location_, mlir::Type(), transpose(pad.getSource(), order),
                                           in_order<mlir::OpFoldResult>(pad.getMixedLowPad(), order),
                                           in_order<mlir::OpFoldResult>(pad.getMixedHighPad(), order),
                                           pad.getConstantPaddingValue());
  }
  const Value target = empty(value, order);
  if (auto fill = value.getDefiningOp<linalg::FillOp>()) {
    return rewriter_.create<linalg::FillOp>(location_, fill.value(), target).result();
  }
  return rewriter_.create<linalg::TransposeOp>(location_, value, target, order)->getResult(0);
}

Value Transposer::transpose_back(Value value, const Order& order) {
  const Order back = mlir::invertPermutationVector(order);
  auto op = rewriter_.create<linalg::TransposeOp>(location_, value, empty(value, back), back);
  return linalg::generalizeNamedOp(rewriter_, op)->getResult(0);
}

Value Transposer::empty(Value value, const Order& order) {
  const auto type = llvm::cast<mlir::RankedTensorType>(value.getType());
  const llvm::SmallVector<mlir::OpFoldResult> sizes = tensor::getMixedSizes(rewriter_, location_, value);
  return rewriter_.create<tensor::EmptyOp>(location_, in_order<mlir::OpFoldResult>(sizes, order),
                                           type.getElementType());
}

}  // namespace baton::compiler_lite::schedule
