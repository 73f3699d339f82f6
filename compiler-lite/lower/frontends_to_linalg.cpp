// What specs leave of torch and tosa becomes linalg: their tensors are tensors of MLIR, operation by operation in
// order.
#include "compiler-lite/dialects/torch/dialect.hpp"
#include "compiler-lite/dialects/tosa/dialect.hpp"
#include "compiler-lite/lower/lower.hpp"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/ReshapeOpsUtils.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

namespace baton::compiler_lite::lower {

using namespace mlir;  // NOLINT: this file rewrites MLIR.

namespace {

// Lowers one operation after the other; each has its operands lowered before it.
class Frontends {
 public:
  LogicalResult lower(Operation* op);
  // Lowered operations in the order of the program; users stand behind what they use.
  void erase() {
    for (Operation* op : llvm::reverse(done_)) op->erase();
  }

 private:
  LogicalResult refuse(Operation* op, const Twine& why) {
    return emitError(op->getLoc()) << op->getName() << " is not lowered " << why << ".";
  }
  // The tensor of MLIR that a value of a frontend stands for; the value itself otherwise.
  Value tensor_of(Value value) { return values_.lookupOrDefault(value); }
  void becomes(Operation* op, Value value) {
    if (isa<torch::ValueTensorType>(op->getResult(0).getType())) {
      values_.map(op->getResult(0), value);
    } else {
      op->getResult(0).replaceAllUsesWith(value);
    }
    done_.push_back(op);
  }
  Value cast(OpBuilder& builder, Location loc, Value value, Type type) {
    return value.getType() == type ? value : builder.create<tensor::CastOp>(loc, type, value).getResult();
  }
  Value empty(OpBuilder& builder, Location loc, RankedTensorType type, ArrayRef<std::pair<Value, int64_t>> sizes);
  Value zeros(OpBuilder& builder, Location loc, Value into);
  Value clamp(OpBuilder& builder, Location loc, Value value, TypedAttr low, TypedAttr high);

  LogicalResult lower_mm(torch::AtenMmOp op);
  LogicalResult lower_relu(torch::AtenReluOp op);
  LogicalResult lower_matmul(tosa::MatMulOp op);
  LogicalResult lower_clamp(tosa::ClampOp op);
  LogicalResult lower_negate(tosa::NegateOp op);
  LogicalResult lower_reshape(tosa::ReshapeOp op);

  IRMapping values_;
  SmallVector<Operation*> done_;
};

// A tensor for results; size i is dimension `second` of `first`.
Value Frontends::empty(OpBuilder& builder, Location loc, RankedTensorType type,
                       ArrayRef<std::pair<Value, int64_t>> sizes) {
  SmallVector<Value> dynamic;
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    if (!type.isDynamicDim(static_cast<unsigned>(dim))) continue;
    const auto& [from, at] = sizes[static_cast<size_t>(dim)];
    dynamic.push_back(builder.createOrFold<tensor::DimOp>(loc, from, at));
  }
  return builder.create<tensor::EmptyOp>(loc, type, dynamic);
}

Value Frontends::zeros(OpBuilder& builder, Location loc, Value into) {
  const Type element = mlir::cast<RankedTensorType>(into.getType()).getElementType();
  const Value zero = builder.create<arith::ConstantOp>(loc, builder.getZeroAttr(element));
  return builder.create<linalg::FillOp>(loc, zero, into).getResult(0);
}

// max(low, min(x, high)), each bound when it is given.
Value Frontends::clamp(OpBuilder& builder, Location loc, Value value, TypedAttr low, TypedAttr high) {
  const auto type = mlir::cast<RankedTensorType>(value.getType());
  SmallVector<std::pair<Value, int64_t>> sizes;
  for (int64_t dim = 0; dim < type.getRank(); ++dim) sizes.emplace_back(value, dim);
  const Value into = empty(builder, loc, type, sizes);
  const bool floats = isa<FloatType>(type.getElementType());
  const AffineMap id = builder.getMultiDimIdentityMap(static_cast<unsigned>(type.getRank()));
  const SmallVector<utils::IteratorType> loops(static_cast<size_t>(type.getRank()), utils::IteratorType::parallel);
  const auto body = [&](OpBuilder& inner, Location at, ValueRange arguments) {
    Value x = arguments[0];
    if (high) {
      const Value bound = inner.create<arith::ConstantOp>(at, high);
      x = floats ? inner.create<arith::MinimumFOp>(at, x, bound).getResult()
                 : inner.create<arith::MinSIOp>(at, x, bound);
    }
    if (low) {
      const Value bound = inner.create<arith::ConstantOp>(at, low);
      x = floats ? inner.create<arith::MaximumFOp>(at, x, bound).getResult()
                 : inner.create<arith::MaxSIOp>(at, x, bound);
    }
    inner.create<linalg::YieldOp>(at, x);
  };
  return builder.create<linalg::GenericOp>(loc, type, value, into, ArrayRef<AffineMap>{id, id}, loops, body)
      .getResult(0);
}

LogicalResult Frontends::lower_mm(torch::AtenMmOp op) {
  OpBuilder builder(op);
  const Value lhs = tensor_of(op.getLhs());
  const Value rhs = tensor_of(op.getRhs());
  const auto type = mlir::cast<torch::ValueTensorType>(op.getResult().getType()).tensor();
  for (const Type each : {lhs.getType(), rhs.getType(), static_cast<Type>(type)}) {
    if (mlir::cast<RankedTensorType>(each).getRank() != 2) return refuse(op, "for tensors that are no matrices");
  }
  const Value into = zeros(builder, op.getLoc(), empty(builder, op.getLoc(), type, {{lhs, 0}, {rhs, 1}}));
  becomes(op, builder.create<linalg::MatmulOp>(op.getLoc(), ValueRange{lhs, rhs}, into).getResult(0));
  return success();
}

LogicalResult Frontends::lower_relu(torch::AtenReluOp op) {
  OpBuilder builder(op);
  const Value x = tensor_of(op.getOperand());
  const Type element = mlir::cast<RankedTensorType>(x.getType()).getElementType();
  becomes(op, clamp(builder, op.getLoc(), x, builder.getZeroAttr(element), {}));
  return success();
}

bool is_zero(Value value) { return matchPattern(value, m_Zero()) || matchPattern(value, m_AnyZeroFloat()); }

LogicalResult Frontends::lower_matmul(tosa::MatMulOp op) {
  if (!is_zero(op.getLhsZeroPoint()) || !is_zero(op.getRhsZeroPoint())) {
    return refuse(op, "with zero points that are not constants of 0");
  }
  const auto type = mlir::cast<RankedTensorType>(op.getResult().getType());
  if (type.getRank() != 3) return refuse(op, "for tensors that are no batches of matrices");
  OpBuilder builder(op);
  const Value into = zeros(builder, op.getLoc(),
                           empty(builder, op.getLoc(), type, {{op.getLhs(), 0}, {op.getLhs(), 1}, {op.getRhs(), 2}}));
  becomes(op,
          builder.create<linalg::BatchMatmulOp>(op.getLoc(), ValueRange{op.getLhs(), op.getRhs()}, into).getResult(0));
  return success();
}

LogicalResult Frontends::lower_clamp(tosa::ClampOp op) {
  OpBuilder builder(op);
  const Type element = mlir::cast<RankedTensorType>(op.getResult().getType()).getElementType();
  const auto low = mlir::cast<TypedAttr>(op.getMinVal());
  const auto high = mlir::cast<TypedAttr>(op.getMaxVal());
  if (low.getType() != element || high.getType() != element) return refuse(op, "with bounds of another type");
  becomes(op, clamp(builder, op.getLoc(), op.getOperand(), low, high));
  return success();
}

LogicalResult Frontends::lower_negate(tosa::NegateOp op) {
  const Type element = mlir::cast<RankedTensorType>(op.getResult().getType()).getElementType();
  if (!isa<FloatType>(element)) return refuse(op, "for integers");
  if (!is_zero(op.getInputZeroPoint()) || !is_zero(op.getOutputZeroPoint())) {
    return refuse(op, "with zero points that are not constants of 0");
  }
  OpBuilder builder(op);
  becomes(op, builder.create<arith::NegFOp>(op.getLoc(), op.getOperand()));
  return success();
}

// Through one dimension where neither of the shapes is a refinement of the other.
LogicalResult Frontends::lower_reshape(tosa::ReshapeOp op) {
  const auto from = mlir::cast<RankedTensorType>(op.getOperand().getType());
  const auto to = mlir::cast<RankedTensorType>(op.getResult().getType());
  if (!from.hasStaticShape() || !to.hasStaticShape()) return refuse(op, "for sizes that are not known when compiled");
  if (from.getNumElements() != to.getNumElements()) {
    return emitError(op.getLoc()) << op->getName() << " makes " << to.getNumElements() << " elements of "
                                  << from.getNumElements() << ".";
  }
  OpBuilder builder(op);
  const auto change = [&](Value value, RankedTensorType type) -> Value {
    const auto have = mlir::cast<RankedTensorType>(value.getType());
    const auto groups = getReassociationIndicesForReshape(have, type);
    if (have == type) return value;
    if (!groups) return {};
    if (have.getRank() < type.getRank())
      return builder.create<tensor::ExpandShapeOp>(op.getLoc(), type, value, *groups);
    return builder.create<tensor::CollapseShapeOp>(op.getLoc(), type, value, *groups);
  };
  Value made = change(op.getOperand(), to);
  if (!made)
    made = change(change(op.getOperand(), RankedTensorType::get({to.getNumElements()}, to.getElementType())), to);
  becomes(op, made);
  return success();
}

LogicalResult Frontends::lower(Operation* op) {
  OpBuilder builder(op);
  if (auto from = dyn_cast<torch_c::FromBuiltinTensorOp>(op)) {
    const auto type = mlir::cast<torch::ValueTensorType>(from.getResult().getType()).tensor();
    becomes(op, cast(builder, op->getLoc(), from.getOperand(), type));
    return success();
  }
  for (const Value operand : op->getOperands()) {
    if (!isa<torch::ValueTensorType>(operand.getType()) || values_.contains(operand)) continue;
    return refuse(op, "for a torch tensor that is an argument of its block");
  }
  if (auto to = dyn_cast<torch_c::ToBuiltinTensorOp>(op)) {
    becomes(op, cast(builder, op->getLoc(), tensor_of(to.getOperand()), to.getResult().getType()));
    return success();
  }
  if (auto constant = dyn_cast<tosa::ConstOp>(op)) {
    becomes(op, builder.create<arith::ConstantOp>(op->getLoc(), mlir::cast<TypedAttr>(constant.getValues())));
    return success();
  }
  if (isa<tosa::ConstShapeOp>(op)) {  // Shapes stand in the types of results too.
    done_.push_back(op);
    return success();
  }
  if (auto each = dyn_cast<torch::AtenMmOp>(op)) return lower_mm(each);
  if (auto each = dyn_cast<torch::AtenReluOp>(op)) return lower_relu(each);
  if (auto each = dyn_cast<tosa::MatMulOp>(op)) return lower_matmul(each);
  if (auto each = dyn_cast<tosa::ClampOp>(op)) return lower_clamp(each);
  if (auto each = dyn_cast<tosa::NegateOp>(op)) return lower_negate(each);
  if (auto each = dyn_cast<tosa::ReshapeOp>(op)) return lower_reshape(each);
  return refuse(op, "in this place");
}

bool is_frontend(Operation* op) {
  return isa_and_nonnull<torch::TorchDialect, torch_c::TorchCDialect, tosa::TosaDialect>(op->getDialect());
}

}  // namespace

LogicalResult frontends_to_linalg(ModuleOp module) {
  SmallVector<Operation*> all;
  module.walk<WalkOrder::PreOrder>([&](Operation* op) {
    if (is_frontend(op)) all.push_back(op);
  });
  if (all.empty()) return success();
  module.getContext()->loadDialect<arith::ArithDialect, linalg::LinalgDialect, tensor::TensorDialect>();
  Frontends frontends;
  for (Operation* op : all) {
    if (failed(frontends.lower(op))) return failure();
  }
  frontends.erase();
  return success();
}

}  // namespace baton::compiler_lite::lower
