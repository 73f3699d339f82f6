#include "compiler-lite/codegen/gpu/vectors.hpp"

#include "compiler-lite/codegen/llvm/llvm_values.hpp"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace baton::compiler_lite::codegen::gpu {

namespace arith = mlir::arith;
namespace linalg = mlir::linalg;
namespace LLVM = mlir::LLVM;
using mlir::Location;
using mlir::OpBuilder;
using mlir::Value;

Step step_of(linalg::GenericOp op, mlir::OpOperand& operand, unsigned loop) {
  const mlir::AffineMap map = op.getMatchingIndexingMap(&operand);
  const auto type = llvm::dyn_cast<mlir::MemRefType>(operand.get().getType());
  if (!type || !map.isFunctionOfDim(loop)) return Step::kSame;
  for (unsigned i = 0; i + 1 < map.getNumResults(); ++i) {
    if (map.getResult(i).isFunctionOfDim(loop)) return Step::kElsewhere;
  }
  llvm::SmallVector<int64_t> strides;
  int64_t offset = 0;
  const bool contiguous = mlir::succeeded(mlir::getStridesAndOffset(type, strides, offset)) && strides.back() == 1;
  const bool next = map.getResults().back() == mlir::getAffineDimExpr(loop, map.getContext());
  return contiguous && next && type.getElementType().isIntOrFloat() ? Step::kNext : Step::kElsewhere;
}

Vectors::Vectors(OpBuilder& builder, linalg::GenericOp op, unsigned loop, int64_t lanes)
    : op_(op), location_(op.getLoc()), loop_(loop), lanes_(lanes) {
  for (mlir::OpOperand& operand : op->getOpOperands()) {
    const bool is_read_along = step_of(op, operand, loop) == Step::kNext;
    memories_.push_back(is_read_along ? open_memory(builder, location_, operand.get()) : Memory{});
  }
}

Value Vectors::unaligned(OpBuilder& builder) {
  Value rest = make_i64(builder, location_, 0);
  for (const Memory& memory : memories_) {
    if (!memory.base) continue;
    const Value bits = unaligned_bits(builder, location_, memory, lanes_ * stored_bytes(memory.element));
    rest = builder.create<LLVM::OrOp>(location_, rest, bits);
  }
  return rest;
}

Value Vectors::are_aligned(OpBuilder& builder) {
  return builder.create<arith::CmpIOp>(location_, arith::CmpIPredicate::eq, unaligned(builder),
                                       make_i64(builder, location_, 0));
}

void Vectors::write(OpBuilder& builder, const Values& point, llvm::ArrayRef<Values> given) {
  llvm::SmallVector<Values> loaded(given), results(static_cast<size_t>(op_.getNumDpsInits()));
  loaded.resize(memories_.size());
  for (mlir::OpOperand& operand : op_->getOpOperands()) {
    const Memory& memory = memories_[operand.getOperandNumber()];
    Values& lanes = loaded[operand.getOperandNumber()];
    if (!op_.payloadUsesValueFromOperand(&operand) || !memory.base || !lanes.empty()) continue;
    lanes = load_elements(builder, location_, memory, address(builder, operand, point), lanes_);
  }
  for (int64_t lane = 0; lane < lanes_; ++lane) {
    const Values yielded = compute_lane(builder, point, lane, loaded);
    for (size_t i = 0; i < results.size(); ++i) results[i].push_back(yielded[i]);
  }
  for (mlir::OpOperand& operand : op_.getDpsInitsMutable()) {
    const Memory& memory = memories_[operand.getOperandNumber()];
    const size_t result = operand.getOperandNumber() - static_cast<size_t>(op_.getNumDpsInputs());
    store_elements(builder, location_, memory, address(builder, operand, point), results[result]);
  }
}

Value Vectors::address(OpBuilder& builder, mlir::OpOperand& operand, const Values& point) {
  return address_of(builder, location_, memories_[operand.getOperandNumber()], indices(builder, op_, operand, point));
}

Values Vectors::compute_lane(OpBuilder& builder, Values point, int64_t lane, llvm::ArrayRef<Values> loaded) {
  const Value offset = builder.create<arith::ConstantIndexOp>(location_, lane);
  point[loop_] = builder.create<arith::AddIOp>(location_, point[loop_], offset);
  Values operands;
  for (mlir::OpOperand& operand : op_->getOpOperands()) {
    const Values& lanes = loaded[operand.getOperandNumber()];
    if (!op_.payloadUsesValueFromOperand(&operand)) {
      const mlir::Type type = mlir::getElementTypeOrSelf(operand.get().getType());
      operands.push_back(builder.create<arith::ConstantOp>(location_, type, builder.getZeroAttr(type)));
    } else if (lanes.empty()) {
      operands.push_back(load(builder, op_, operand, point));
    } else {
      operands.push_back(lanes[static_cast<size_t>(lane)]);
    }
  }
  return compute(builder, op_, point, operands);
}

}  // namespace baton::compiler_lite::codegen::gpu
