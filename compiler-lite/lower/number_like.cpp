#include "compiler-lite/lower/number_like.hpp"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace baton::compiler_lite::lower {

using namespace mlir;  // NOLINT: this file writes MLIR.

Value number_like(OpBuilder& builder, Location where, Value like, TypedAttr number) {
  auto given = dyn_cast<ShapedType>(like.getType());
  if (!given) return builder.create<arith::ConstantOp>(where, number);
  auto shaped = cast<ShapedType>(given.clone(number.getType()));
  if (shaped.hasStaticShape()) {
    return builder.create<arith::ConstantOp>(where, DenseElementsAttr::get(shaped, Attribute(number)));
  }
  SmallVector<Value> sizes;
  for (int64_t i = 0; i < shaped.getRank(); ++i) {
    if (shaped.isDynamicDim(static_cast<unsigned>(i))) sizes.push_back(builder.create<tensor::DimOp>(where, like, i));
  }
  const Value one = builder.create<arith::ConstantOp>(where, number);
  return builder.create<tensor::SplatOp>(where, one, cast<RankedTensorType>(shaped), sizes);
}

}  // namespace baton::compiler_lite::lower
