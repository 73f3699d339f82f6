#include "compiler-lite/dialects/util/dialect.hpp"
#include "compiler-lite/lower/lower.hpp"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

namespace baton::compiler_lite::lower {

using namespace mlir;  // NOLINT: this file rewrites MLIR.

namespace {

bool is_narrow_integer(Type type) { return isa<IntegerType>(type) && type.getIntOrFloatBitWidth() < 32; }
bool is_half(Type type) { return type.isF16() || type.isBF16(); }
bool is_small(Type type) { return is_narrow_integer(type) || is_half(type); }

Type wide_type(Type type) {
  if (is_narrow_integer(type)) return IntegerType::get(type.getContext(), 32);
  return is_half(type) ? Float32Type::get(type.getContext()) : type;
}

// Operations that are right as they stand when narrow integers are zero-extended: their results are in range.
bool keeps_range(Operation* op) {
  if (isa<arith::ConstantOp, arith::SelectOp, arith::BitcastOp, arith::AddUIExtendedOp, arith::MulSIExtendedOp,
          arith::MulUIExtendedOp>(op))
    return true;
  if (isa<arith::AndIOp, arith::OrIOp, arith::XOrIOp, arith::MinUIOp, arith::MaxUIOp, arith::DivUIOp, arith::RemUIOp,
          arith::ShRUIOp, arith::UIToFPOp, arith::ExtUIOp, arith::ExtSIOp, arith::TruncIOp, arith::IndexCastOp,
          arith::IndexCastUIOp, math::CtPopOp>(op)) {
    return llvm::none_of(op->getResultTypes(), is_half);
  }
  if (auto compare = dyn_cast<arith::CmpIOp>(op)) {
    const arith::CmpIPredicate predicate = compare.getPredicate();
    return predicate == arith::CmpIPredicate::eq || predicate == arith::CmpIPredicate::ne ||
           predicate == arith::CmpIPredicate::ult || predicate == arith::CmpIPredicate::ule ||
           predicate == arith::CmpIPredicate::ugt || predicate == arith::CmpIPredicate::uge;
  }
  // Between a half and f32 there is an instruction.
  if (isa<arith::ExtFOp>(op)) return op->getResult(0).getType().isF32();
  if (isa<arith::TruncFOp>(op)) return op->getOperand(0).getType().isF32();
  return false;
}

// Conversions from wide to small types that no instruction does at once.
bool makes_small(Operation* op) {
  return isa<arith::SIToFPOp, arith::UIToFPOp, arith::FPToSIOp, arith::FPToUIOp, arith::TruncFOp>(op);
}

bool reads_signs(Operation* op) {
  return isa<arith::DivSIOp, arith::RemSIOp, arith::CeilDivSIOp, arith::FloorDivSIOp, arith::ShRSIOp, arith::MinSIOp,
             arith::MaxSIOp, arith::CmpIOp, arith::SIToFPOp, math::AbsIOp, math::IPowIOp>(op);
}

Value widened(OpBuilder& builder, Operation* op, OpOperand& operand) {
  const Value value = operand.get();
  const Type type = wide_type(value.getType());
  if (type == value.getType()) return value;
  if (is_half(value.getType())) return builder.create<arith::ExtFOp>(op->getLoc(), type, value);
  // The distance of a shift is unsigned.
  const bool is_signed = reads_signs(op) && !(isa<arith::ShRSIOp>(op) && operand.getOperandNumber() == 1);
  if (is_signed) return builder.create<arith::ExtSIOp>(op->getLoc(), type, value);
  return builder.create<arith::ExtUIOp>(op->getLoc(), type, value);
}

// Zeros are counted in the width that the value has.
Value corrected(OpBuilder& builder, Operation* op, Value wide, Type type) {
  const Location location = op->getLoc();
  const int64_t width = type.getIntOrFloatBitWidth();
  const auto number = [&](int64_t value) {
    return builder.create<arith::ConstantOp>(location, builder.getI32IntegerAttr(static_cast<int32_t>(value)));
  };
  if (isa<math::CountLeadingZerosOp>(op)) return builder.create<arith::SubIOp>(location, wide, number(32 - width));
  if (isa<math::CountTrailingZerosOp>(op)) return builder.create<arith::MinUIOp>(location, wide, number(width));
  return wide;
}

// The smallest integer by -1 traps in the width that it has: moved to the top of i32 it is the smallest one there.
void trap_on_overflow(OpBuilder& builder, Operation* op, ValueRange wide) {
  if (!isa<arith::DivSIOp, arith::CeilDivSIOp, arith::FloorDivSIOp>(op)) return;
  const auto type = dyn_cast<IntegerType>(op->getResult(0).getType());
  if (!type || type.getWidth() == 1) return;
  const int32_t distance = 32 - static_cast<int32_t>(type.getWidth());
  const Value up = builder.create<arith::ConstantOp>(op->getLoc(), builder.getI32IntegerAttr(distance));
  const Value moved = builder.create<arith::ShLIOp>(op->getLoc(), wide[0], up);
  builder.create<arith::DivSIOp>(op->getLoc(), moved, wide[1]);
}

void widen(Operation* op) {
  OpBuilder builder(op);
  OperationState state(op->getLoc(), op->getName());
  for (OpOperand& operand : op->getOpOperands()) state.operands.push_back(widened(builder, op, operand));
  for (const Type type : op->getResultTypes())
    state.types.push_back(isa<arith::CmpIOp, arith::CmpFOp>(op) ? type : wide_type(type));
  state.addAttributes(op->getAttrs());
  trap_on_overflow(builder, op, state.operands);
  Operation* made = builder.create(state);
  for (unsigned i = 0; i < op->getNumResults(); ++i) {
    const Type type = op->getResult(i).getType();
    Value result = made->getResult(i);
    if (result.getType() != type) {
      result =
          is_half(type)
              ? builder.create<arith::TruncFOp>(op->getLoc(), type, result).getResult()
              : builder.create<arith::TruncIOp>(op->getLoc(), type, corrected(builder, op, result, type)).getResult();
    }
    op->getResult(i).replaceAllUsesWith(result);
  }
  op->erase();
}

}  // namespace

LogicalResult widen_scalars(ModuleOp module) {
  SmallVector<Operation*> small;
  for (Operation& top : *module.getBody()) {
    if (!isa<util::FuncOp, util::InitializerOp>(top)) continue;
    top.walk([&](Operation* op) {
      if (!isa<arith::ArithDialect, math::MathDialect>(op->getDialect()) || keeps_range(op)) return;
      if (llvm::any_of(op->getOperandTypes(), is_small) || (makes_small(op) && is_small(op->getResult(0).getType()))) {
        small.push_back(op);
      }
    });
  }
  for (Operation* op : small) widen(op);
  return success();
}

}  // namespace baton::compiler_lite::lower
