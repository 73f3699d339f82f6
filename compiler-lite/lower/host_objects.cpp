// Lists hold what registers hold, and bytes hold whole bytes: narrower elements are converted on the way.
#include "compiler-lite/dialects/util/dialect.hpp"
#include "compiler-lite/lower/lower.hpp"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace baton::compiler_lite::lower {

using namespace mlir;  // NOLINT: this file rewrites MLIR.

namespace {

// Integers are kept with their sign, as others see them; i1 is 0 or 1.
Value to_integer(OpBuilder& builder, Location location, Value value, IntegerType type) {
  if (isa<FloatType>(value.getType())) {
    const Type bits = builder.getIntegerType(value.getType().getIntOrFloatBitWidth());
    value = builder.create<arith::BitcastOp>(location, bits, value);
  }
  if (value.getType() == type) return value;
  if (value.getType().isInteger(1)) return builder.create<arith::ExtUIOp>(location, type, value);
  return builder.create<arith::ExtSIOp>(location, type, value);
}

Value from_integer(OpBuilder& builder, Location location, Value value, Type type) {
  const Type bits = builder.getIntegerType(type.getIntOrFloatBitWidth());
  if (value.getType() != bits) value = builder.create<arith::TruncIOp>(location, bits, value);
  return bits == type ? value : builder.create<arith::BitcastOp>(location, type, value).getResult();
}

// What stands in the list or the bytes instead; null where nothing has to.
IntegerType element_of_list(Type type) {
  if (!type.isIntOrFloat() || type.getIntOrFloatBitWidth() >= 32) return {};
  return IntegerType::get(type.getContext(), 32);
}
IntegerType element_of_bytes(Type type) {
  if (type.isInteger(1)) return IntegerType::get(type.getContext(), 8);
  if (isa<FloatType>(type) && type.getIntOrFloatBitWidth() == 16) return IntegerType::get(type.getContext(), 16);
  return {};
}

void convert_result(Operation* op, IntegerType held) {
  OpBuilder builder(op->getContext());
  builder.setInsertionPointAfter(op);
  OpResult result = op->getResult(0);
  const Type type = result.getType();
  result.setType(held);
  const Value back = from_integer(builder, op->getLoc(), result, type);
  Operation* first = result.user_begin() == result.user_end() ? nullptr : back.getDefiningOp();
  while (first && first->getOperand(0) != result) first = first->getOperand(0).getDefiningOp();
  result.replaceAllUsesExcept(back, first);
}

void convert_operand(OpOperand& operand, IntegerType held) {
  Operation* op = operand.getOwner();
  OpBuilder builder(op);
  operand.set(to_integer(builder, op->getLoc(), operand.get(), held));
}

void convert(Operation* op) {
  OpBuilder builder(op);
  if (auto create = dyn_cast<util::ListCreateOp>(op); create && !create.getInitialCapacity()) {
    create.getInitialCapacityMutable().assign(builder.create<arith::ConstantIndexOp>(op->getLoc(), 0));
  } else if (auto get = dyn_cast<util::ListGetOp>(op)) {
    if (const IntegerType held = element_of_list(get.getType())) convert_result(op, held);
  } else if (auto set = dyn_cast<util::ListSetOp>(op)) {
    if (const IntegerType held = element_of_list(set.getValue().getType())) {
      convert_operand(set.getValueMutable(), held);
    }
  } else if (auto load = dyn_cast<util::BufferLoadOp>(op)) {
    if (const IntegerType held = element_of_bytes(load.getType())) convert_result(op, held);
  } else if (auto store = dyn_cast<util::BufferStoreOp>(op)) {
    if (const IntegerType held = element_of_bytes(store.getSource().getType())) {
      convert_operand(store.getSourceMutable(), held);
    }
  } else if (auto fill = dyn_cast<util::BufferFillOp>(op)) {
    const Type type = fill.getPattern().getType();
    if (!type.isIntOrFloat()) return;
    const IntegerType whole = builder.getIntegerType(std::max(8u, type.getIntOrFloatBitWidth()));
    if (whole != type) convert_operand(fill.getPatternMutable(), whole);
  }
}

}  // namespace

LogicalResult host_objects(ModuleOp module) {
  SmallVector<Operation*> objects;
  for (Operation& top : *module.getBody()) {
    if (!isa<util::FuncOp, util::InitializerOp>(top)) continue;
    top.walk([&](Operation* op) {
      if (isa<util::UtilDialect>(op->getDialect())) objects.push_back(op);
    });
  }
  for (Operation* op : objects) convert(op);
  return success();
}

}  // namespace baton::compiler_lite::lower
