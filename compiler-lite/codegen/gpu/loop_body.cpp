#include "compiler-lite/codegen/gpu/loop_body.hpp"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/IRMapping.h"

namespace baton::compiler_lite::codegen::gpu {

namespace arith = mlir::arith;
namespace linalg = mlir::linalg;
using mlir::Location;
using mlir::OpBuilder;
using mlir::Value;
using mlir::ValueRange;

Values loop_sizes(OpBuilder& builder, linalg::GenericOp op) {
  Values sizes;
  for (const mlir::Range& range :
       llvm::cast<linalg::LinalgOp>(op.getOperation()).createLoopRanges(builder, op.getLoc())) {
    sizes.push_back(mlir::getValueOrCreateConstantIndexOp(builder, op.getLoc(), range.size));
  }
  return sizes;
}

Value product(OpBuilder& builder, Location location, ValueRange sizes) {
  Value all = builder.create<arith::ConstantIndexOp>(location, 1);
  for (const Value size : sizes) all = builder.createOrFold<arith::MulIOp>(location, all, size);
  return all;
}

Values indices(OpBuilder& builder, linalg::GenericOp op, mlir::OpOperand& operand, ValueRange point) {
  const mlir::AffineMap map = op.getMatchingIndexingMap(&operand);
  Values all;
  for (const mlir::AffineExpr expression : map.getResults()) {
    if (const auto dimension = llvm::dyn_cast<mlir::AffineDimExpr>(expression)) {
      all.push_back(point[dimension.getPosition()]);
      continue;
    }
    const auto one = mlir::AffineMap::get(map.getNumDims(), 0, expression);
    all.push_back(builder.create<mlir::affine::AffineApplyOp>(op.getLoc(), one, point));
  }
  return all;
}

Value load(OpBuilder& builder, linalg::GenericOp op, mlir::OpOperand& operand, ValueRange point) {
  const Value memory = operand.get();
  if (!llvm::isa<mlir::MemRefType>(memory.getType())) return memory;
  return builder.create<mlir::memref::LoadOp>(op.getLoc(), memory, indices(builder, op, operand, point));
}

Values compute(OpBuilder& builder, linalg::GenericOp op, ValueRange point, ValueRange operands) {
  mlir::Block& body = op.getRegion().front();
  mlir::IRMapping values;
  values.map(body.getArguments(), operands);
  for (mlir::Operation& each : body.without_terminator()) {
    if (auto index = llvm::dyn_cast<linalg::IndexOp>(each)) {
      values.map(index.getResult(), point[index.getDim()]);
      continue;
    }
    builder.clone(each, values)->walk([&](linalg::IndexOp index) {
      index.replaceAllUsesWith(point[index.getDim()]);
      index.erase();
    });
  }
  Values results;
  for (const Value result : body.getTerminator()->getOperands()) results.push_back(values.lookupOrDefault(result));
  return results;
}

Values compute_loaded(OpBuilder& builder, linalg::GenericOp op, ValueRange point, ValueRange outs) {
  Values operands;
  for (mlir::OpOperand& operand : op->getOpOperands()) {
    if (op.isDpsInit(&operand) && !outs.empty()) continue;
    operands.push_back(load(builder, op, operand, point));
  }
  llvm::append_range(operands, outs);
  return compute(builder, op, point, operands);
}

void store(OpBuilder& builder, linalg::GenericOp op, ValueRange point, ValueRange results) {
  for (mlir::OpOperand& operand : op.getDpsInitsMutable()) {
    const size_t number = operand.getOperandNumber() - static_cast<size_t>(op.getNumDpsInputs());
    builder.create<mlir::memref::StoreOp>(op.getLoc(), results[number], operand.get(),
                                          indices(builder, op, operand, point));
  }
}

}  // namespace baton::compiler_lite::codegen::gpu
