#include "compiler-lite/schedule/tensor_sizes.hpp"

#include "compiler-lite/dialects/flow/dialect.hpp"
#include "compiler-lite/dialects/hal/dialect.hpp"
#include "compiler-lite/dialects/util/dialect.hpp"
#include "compiler-lite/schedule/recording.hpp"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"

namespace baton::compiler_lite::schedule {
namespace {

namespace arith = mlir::arith;
namespace tensor = mlir::tensor;
using llvm::SmallVector;
using mlir::Location;
using mlir::OpBuilder;
using mlir::Operation;
using mlir::OpFoldResult;
using mlir::RankedTensorType;
using mlir::Value;

RankedTensorType type_of(Value tensor) { return llvm::cast<RankedTensorType>(tensor.getType()); }

OpFoldResult folded(Value value) {
  const std::optional<int64_t> known = fold_integer(value);
  return known ? index_constant(value.getContext(), *known) : OpFoldResult(value);
}
OpFoldResult folded(OpFoldResult size) {
  const auto value = llvm::dyn_cast<Value>(size);
  return value ? folded(value) : size;
}

template <typename Op>
OpFoldResult binary(OpBuilder& builder, Location location, OpFoldResult a, OpFoldResult b) {
  const Value left = mlir::getValueOrCreateConstantIndexOp(builder, location, a);
  const Value right = mlir::getValueOrCreateConstantIndexOp(builder, location, b);
  return folded(builder.createOrFold<Op>(location, left, right));
}

// Dimensions of the whole that a slice of a smaller rank still has, in order.
unsigned kept_dimension(const llvm::SmallBitVector& dropped, unsigned dimension) {
  for (unsigned i = 0; i < dropped.size(); ++i) {
    if (!dropped.test(i) && dimension-- == 0) return i;
  }
  return 0;
}

}  // namespace

OpFoldResult index_constant(mlir::MLIRContext* context, int64_t value) {
  return mlir::IntegerAttr::get(mlir::IndexType::get(context), value);
}
OpFoldResult add_indices(OpBuilder& builder, Location location, OpFoldResult a, OpFoldResult b) {
  if (mlir::isConstantIntValue(a, 0)) return b;
  if (mlir::isConstantIntValue(b, 0)) return a;
  return binary<arith::AddIOp>(builder, location, a, b);
}
OpFoldResult subtract_indices(OpBuilder& builder, Location location, OpFoldResult a, OpFoldResult b) {
  return mlir::isConstantIntValue(b, 0) ? a : binary<arith::SubIOp>(builder, location, a, b);
}
OpFoldResult multiply_indices(OpBuilder& builder, Location location, OpFoldResult a, OpFoldResult b) {
  if (mlir::isConstantIntValue(a, 1)) return b;
  if (mlir::isConstantIntValue(b, 1)) return a;
  return binary<arith::MulIOp>(builder, location, a, b);
}

OpFoldResult TensorSizes::of(Value tensor, unsigned dimension) {
  const RankedTensorType type = type_of(tensor);
  if (!type.isDynamicDim(dimension)) return index_constant(tensor.getContext(), type.getDimSize(dimension));
  const auto found = known_.find({tensor, dimension});
  if (found != known_.end()) return found->second;
  OpBuilder::InsertionGuard guard(builder_);
  builder_.setInsertionPointAfterValue(tensor);
  const OpFoldResult size = folded(find(tensor, dimension));
  known_[{tensor, dimension}] = size;
  return size;
}

OpFoldResult TensorSizes::find(Value tensor, unsigned dimension) {
  OpFoldResult size;
  if (Operation* op = tensor.getDefiningOp()) {
    const auto result = llvm::cast<mlir::OpResult>(tensor);
    size = of_cast(op, dimension);
    if (!size) size = of_reshape(op, dimension);
    if (!size) size = of_slice(op, dimension);
    if (!size) size = of_computed(result, dimension);
  }
  if (size) return size;
  builder_.setInsertionPointAfterValue(tensor);
  return builder_.create<tensor::DimOp>(tensor.getLoc(), tensor, dimension).getResult();
}

// What passes its operand on.
OpFoldResult TensorSizes::of_cast(Operation* op, unsigned dimension) {
  if (llvm::isa<tensor::CastOp, tensor::BitcastOp, flow::TensorTransferOp>(op)) {
    return of(op->getOperand(0), dimension);
  }
  return {};
}

OpFoldResult TensorSizes::of_reshape(Operation* op, unsigned dimension) {
  if (auto expand = llvm::dyn_cast<tensor::ExpandShapeOp>(op)) {
    return mlir::getMixedValues(expand.getStaticOutputShape(), expand.getOutputShape(), builder_)[dimension];
  }
  if (auto collapse = llvm::dyn_cast<tensor::CollapseShapeOp>(op)) {
    const mlir::ReassociationIndices parts = collapse.getReassociationIndices()[dimension];
    SmallVector<OpFoldResult> sizes;
    for (const int64_t part : parts) sizes.push_back(of(collapse.getSrc(), static_cast<unsigned>(part)));
    builder_.setInsertionPointAfter(op);  // Once: each product stands behind those before it.
    OpFoldResult product = index_constant(op->getContext(), 1);
    for (const OpFoldResult size : sizes) product = multiply_indices(builder_, op->getLoc(), product, size);
    return product;
  }
  return {};
}

OpFoldResult TensorSizes::of_slice(Operation* op, unsigned dimension) {
  if (auto slice = llvm::dyn_cast<tensor::ExtractSliceOp>(op)) {
    return slice.getMixedSizes()[kept_dimension(slice.getDroppedDims(), dimension)];
  }
  if (auto slice = llvm::dyn_cast<tensor::InsertSliceOp>(op)) return of(slice.getDest(), dimension);
  if (auto insert = llvm::dyn_cast<tensor::InsertOp>(op)) return of(insert.getDest(), dimension);
  const Location location = op->getLoc();
  if (auto pad = llvm::dyn_cast<tensor::PadOp>(op)) {
    const OpFoldResult size = of(pad.getSource(), dimension);
    builder_.setInsertionPointAfter(op);
    const OpFoldResult low = add_indices(builder_, location, pad.getMixedLowPad()[dimension], size);
    return add_indices(builder_, location, low, pad.getMixedHighPad()[dimension]);
  }
  if (auto concat = llvm::dyn_cast<tensor::ConcatOp>(op)) {
    if (concat.getDim() != dimension) return of(concat.getInputs()[0], dimension);
    SmallVector<OpFoldResult> sizes;
    for (const Value input : concat.getInputs()) sizes.push_back(of(input, dimension));
    builder_.setInsertionPointAfter(op);
    OpFoldResult sum = sizes.front();
    for (const OpFoldResult size : llvm::drop_begin(sizes)) sum = add_indices(builder_, location, sum, size);
    return sum;
  }
  return {};
}

OpFoldResult TensorSizes::of_listed(mlir::OpResult result, mlir::ValueRange sizes, unsigned dimension) {
  unsigned first = 0;
  for (const mlir::OpResult other : result.getOwner()->getResults().take_front(result.getResultNumber())) {
    const auto type = llvm::dyn_cast<RankedTensorType>(other.getType());
    if (type) first += static_cast<unsigned>(type.getNumDynamicDims());
  }
  return sizes[first + type_of(result).getDynamicDimIndex(dimension)];
}

OpFoldResult TensorSizes::of_computed(mlir::OpResult result, unsigned dimension) {
  Operation* op = result.getOwner();
  const unsigned position = type_of(result).getDynamicDimIndex(dimension);
  if (auto empty = llvm::dyn_cast<tensor::EmptyOp>(op)) return empty.getDynamicSizes()[position];
  if (auto splat = llvm::dyn_cast<tensor::SplatOp>(op)) return splat.getDynamicSizes()[position];
  if (auto generate = llvm::dyn_cast<tensor::GenerateOp>(op)) return generate.getDynamicExtents()[position];
  if (auto import = llvm::dyn_cast<hal::TensorImportOp>(op)) return import.getTargetDims()[position];
  if (auto dispatch = llvm::dyn_cast<flow::DispatchOp>(op)) {
    return of_listed(result, dispatch.getResultDims(), dimension);
  }
  if (auto call = llvm::dyn_cast<flow::CallOp>(op)) return of_listed(result, call.getResultDims(), dimension);
  if (llvm::isa<hal::TensorBarrierOp, util::OptimizationBarrierOp>(op)) {
    return of(op->getOperand(result.getResultNumber()), dimension);
  }
  if (auto destination = llvm::dyn_cast<mlir::DestinationStyleOpInterface>(op)) {
    return of(destination.getDpsInitOperand(result.getResultNumber())->get(), dimension);
  }
  if (!mlir::OpTrait::hasElementwiseMappableTraits(op)) return {};
  // A constant where one of the operands says so.
  OpFoldResult first;
  for (const Value operand : op->getOperands()) {
    const auto type = llvm::dyn_cast<RankedTensorType>(operand.getType());
    if (!type) continue;
    if (!type.isDynamicDim(dimension)) return index_constant(op->getContext(), type.getDimSize(dimension));
    if (!first) first = of(operand, dimension);
  }
  return first;
}

}  // namespace baton::compiler_lite::schedule
