#include "compiler-lite/schedule/hal_ops.hpp"

#include "compiler-lite/dialects/check/dialect.hpp"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace baton::compiler_lite::schedule {

namespace arith = mlir::arith;
using llvm::SmallVector;
using mlir::Location;
using mlir::OpBuilder;
using mlir::Operation;
using mlir::Value;

bool write_hal_op(ScheduledFunction& function, Operation* op) {
  HalCalls& calls = function.hal;
  OpBuilder& builder = function.builder;
  const Location location = op->getLoc();
  Value result;
  if (auto dim = llvm::dyn_cast<hal::BufferViewDimOp>(op)) {
    const int64_t number = dim.getDimensionAttr().getInt();
    result =
        calls.call(builder, location, "buffer_view.dim", {dim.getBufferView(), calls.i32(builder, location, number)});
  } else if (auto query = llvm::dyn_cast<hal::DeviceQueryOp>(op)) {
    op->replaceAllUsesWith(write_query(function, query));
    return true;
  } else if (llvm::isa<hal::FenceCreateOp>(op)) {
    result = calls.call(builder, location, "fence.create", {function.device()});
  } else if (auto wait = llvm::dyn_cast<hal::FenceAwaitOp>(op)) {
    SmallVector<Value> operands = {wait.getTimeoutMillis()};
    llvm::append_range(operands, wait.getFences());
    result = calls.call(builder, location, "fence.await", operands, {static_cast<int32_t>(wait.getFences().size())});
  } else if (auto signal = llvm::dyn_cast<hal::FenceSignalOp>(op)) {
    calls.call(builder, location, "fence.signal", {signal.getFence()});
  } else if (auto fail = llvm::dyn_cast<hal::FenceFailOp>(op)) {
    calls.call(builder, location, "fence.fail",
               {fail.getFence(), fail.getStatus(), calls.bytes(builder, location, "failed by the program")});
  } else if (auto joined = llvm::dyn_cast<hal::FenceJoinOp>(op)) {
    result = calls.call(builder, location, "fence.join", joined.getFences(),
                        {static_cast<int32_t>(joined.getFences().size())});
  } else if (auto expect_true = llvm::dyn_cast<check::ExpectTrueOp>(op)) {
    calls.call(builder, location, "check.expect_true", {expect_true.getOperand()});
  } else if (auto expect_false = llvm::dyn_cast<check::ExpectFalseOp>(op)) {
    calls.call(builder, location, "check.expect_false", {expect_false.getOperand()});
  } else {
    return false;
  }
  if (result) op->getResult(0).replaceAllUsesWith(result);
  return true;
}

// The module `hal` answers with a number of 64 bits.
SmallVector<Value> write_query(ScheduledFunction& function, hal::DeviceQueryOp op) {
  HalCalls& calls = function.hal;
  OpBuilder& builder = function.builder;
  const Location location = op.getLoc();
  const Value answer = calls.call(
      builder, location, "device.query",
      {op.getDevice(), calls.bytes(builder, location, op.getCategory()), calls.bytes(builder, location, op.getKey())});
  const Value known =
      builder.create<arith::CmpIOp>(location, arith::CmpIPredicate::ne, answer, calls.i32(builder, location, 0));
  Value value = answer.getDefiningOp()->getResult(1);
  const mlir::Type type = op.getValue().getType();
  if (!type.isIndex()) {
    value = builder.create<arith::IndexCastOp>(location, builder.getI64Type(), value);
    if (type.isInteger(1)) {
      value = builder.create<arith::CmpIOp>(location, arith::CmpIPredicate::ne, value,
                                            builder.create<arith::ConstantIntOp>(location, 0, 64));
    } else if (type != value.getType()) {
      value = builder.create<arith::TruncIOp>(location, type, value);
    }
  }
  if (const mlir::TypedAttr otherwise = op.getDefaultValueAttr()) {
    value =
        builder.create<arith::SelectOp>(location, known, value, builder.create<arith::ConstantOp>(location, otherwise));
  }
  return {known, value};
}

}  // namespace baton::compiler_lite::schedule
