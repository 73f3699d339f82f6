#include "compiler-lite/codegen/total_integers.hpp"

#include "compiler-lite/dialects/flow/dialect.hpp"
#include "compiler-lite/dialects/hal/dialect.hpp"
#include "compiler-lite/dialects/stream/dialect.hpp"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

namespace baton::compiler_lite::codegen {
namespace {

namespace arith = mlir::arith;
using arith::CmpIPredicate;
using mlir::Location;
using mlir::OpBuilder;
using mlir::Operation;
using mlir::Value;

bool is_signed_division(Operation* op) {
  return llvm::isa<arith::DivSIOp, arith::RemSIOp, arith::CeilDivSIOp, arith::FloorDivSIOp>(op);
}
bool is_remainder(Operation* op) { return llvm::isa<arith::RemSIOp, arith::RemUIOp>(op); }
bool is_division(Operation* op) {
  return is_signed_division(op) || llvm::isa<arith::DivUIOp, arith::RemUIOp, arith::CeilDivUIOp>(op);
}
// To a truth value is another operation of the frontends: whether it is zero.
bool is_from_float(Operation* op) {
  return llvm::isa<arith::FPToSIOp, arith::FPToUIOp>(op) &&
         mlir::getElementTypeOrSelf(op->getResult(0).getType()).getIntOrFloatBitWidth() > 1;
}
bool is_shift(Operation* op) { return llvm::isa<arith::ShLIOp, arith::ShRSIOp, arith::ShRUIOp>(op); }

unsigned width_of(mlir::Type type) {
  const mlir::Type element = mlir::getElementTypeOrSelf(type);
  return element.isIndex() ? mlir::IndexType::kInternalStorageBitWidth : element.getIntOrFloatBitWidth();
}

// The same number in each element.
Value number(OpBuilder& builder, Location location, mlir::Type type, const llvm::APInt& value) {
  const auto one = builder.getIntegerAttr(mlir::getElementTypeOrSelf(type), value);
  const auto shaped = llvm::dyn_cast<mlir::ShapedType>(type);
  if (!shaped) return builder.create<arith::ConstantOp>(location, one);
  return builder.create<arith::ConstantOp>(location, mlir::DenseElementsAttr::get(shaped, mlir::Attribute(one)));
}

Value float_number(OpBuilder& builder, Location location, mlir::Type type, const llvm::APFloat& value) {
  const auto one = builder.getFloatAttr(mlir::getElementTypeOrSelf(type), value);
  const auto shaped = llvm::dyn_cast<mlir::ShapedType>(type);
  if (!shaped) return builder.create<arith::ConstantOp>(location, one);
  return builder.create<arith::ConstantOp>(location, mlir::DenseElementsAttr::get(shaped, mlir::Attribute(one)));
}

// Elements of tensors have become scalars before; what is left of another kind is not lowered.
bool is_rewritten(Operation* op) {
  const mlir::Type type = op->getResult(0).getType();
  return type.isIntOrIndex() || llvm::isa<mlir::VectorType>(type);
}

class Total {
 public:
  explicit Total(Operation* op)
      : op_(op), builder_(op), location_(op->getLoc()), type_(op->getResult(0).getType()), width_(width_of(type_)) {}

  void division() {
    const Value divisor = op_->getOperand(1);
    const bool is_signed = is_signed_division(op_);
    llvm::APInt known;
    if (mlir::matchPattern(divisor, mlir::m_ConstantInt(&known)) && !known.isZero() &&
        !(is_signed && known.isAllOnes())) {
      return void(expand());
    }
    const Value zero = make(llvm::APInt::getZero(width_)), none = make(llvm::APInt::getAllOnes(width_));
    const Value by_zero = compare(CmpIPredicate::eq, divisor, zero);
    Value is_exception = by_zero;
    if (is_signed) {
      const Value wraps = builder_.create<arith::AndIOp>(
          location_, compare(CmpIPredicate::eq, divisor, none),
          compare(CmpIPredicate::eq, op_->getOperand(0), make(llvm::APInt::getSignedMinValue(width_))));
      is_exception = builder_.create<arith::OrIOp>(location_, is_exception, wraps);
    }
    // By one, the smallest number and its remainder are what they are by -1.
    const Value one = make(llvm::APInt(width_, 1));
    op_->setOperand(1, builder_.create<arith::SelectOp>(location_, is_exception, one, divisor));
    const Value other = is_remainder(op_) ? op_->getOperand(0) : none;
    choose(expand(), by_zero, other);
  }

  // What is in range is converted; there is a zero in place of the rest.
  void from_float() {
    const bool is_signed = llvm::isa<arith::FPToSIOp>(op_);
    const Value value = wide_enough(op_->getOperand(0));
    const llvm::fltSemantics& floats =
        llvm::cast<mlir::FloatType>(mlir::getElementTypeOrSelf(value.getType())).getFloatSemantics();
    // The first integer that is too large, and the smallest one: powers of two, which floats hold.
    const llvm::APInt most = is_signed ? llvm::APInt::getSignedMaxValue(width_) : llvm::APInt::getMaxValue(width_);
    const llvm::APInt least = is_signed ? llvm::APInt::getSignedMinValue(width_) : llvm::APInt::getZero(width_);
    llvm::APFloat past(floats), first(floats);
    past.convertFromAPInt(most.zext(width_ + 1) + 1, /*IsSigned=*/false, llvm::APFloat::rmNearestTiesToEven);
    first.convertFromAPInt(least, is_signed, llvm::APFloat::rmNearestTiesToEven);
    const auto compare_with = [&](arith::CmpFPredicate predicate, const llvm::APFloat& limit) -> Value {
      return builder_.create<arith::CmpFOp>(location_, predicate, value,
                                            float_number(builder_, location_, value.getType(), limit));
    };
    // The fraction of what is a little less than the smallest one is cut off: that of small integers is such a float.
    const bool has_fractions = width_ < llvm::APFloat::semanticsPrecision(floats);
    llvm::APFloat before = first;
    if (has_fractions) before.subtract(llvm::APFloat(floats, 1), llvm::APFloat::rmNearestTiesToEven);
    const Value is_above = compare_with(arith::CmpFPredicate::OGE, past);
    const Value is_below = has_fractions ? compare_with(arith::CmpFPredicate::OLE, before)
                                         : compare_with(arith::CmpFPredicate::OLT, first);
    const Value is_exception = builder_.create<arith::OrIOp>(
        location_, builder_.create<arith::OrIOp>(location_, is_above, is_below),
        builder_.create<arith::CmpFOp>(location_, arith::CmpFPredicate::UNO, value, value));
    const Value zero = float_number(builder_, location_, value.getType(), llvm::APFloat::getZero(floats));
    op_->setOperand(0, builder_.create<arith::SelectOp>(location_, is_exception, zero, value));
    Value converted = op_->getResult(0);
    builder_.setInsertionPointAfter(op_);
    Value result = builder_.create<arith::SelectOp>(location_, is_above, make(most), converted);
    Operation* first_use = result.getDefiningOp();
    if (is_signed) result = builder_.create<arith::SelectOp>(location_, is_below, make(least), result);
    converted.replaceUsesWithIf(result, [&](mlir::OpOperand& use) { return use.getOwner() != first_use; });
  }

  void shift() {
    const Value amount = op_->getOperand(1);
    llvm::APInt known;
    if (mlir::matchPattern(amount, mlir::m_ConstantInt(&known)) && known.ult(width_)) return;
    const Value most = make(llvm::APInt(width_, width_ - 1));
    if (llvm::isa<arith::ShRSIOp>(op_)) {
      op_->setOperand(1, builder_.create<arith::MinUIOp>(location_, amount, most));
      return;
    }
    const Value zero = make(llvm::APInt::getZero(width_));
    const Value is_exception = compare(CmpIPredicate::ugt, amount, most);
    op_->setOperand(1, builder_.create<arith::SelectOp>(location_, is_exception, zero, amount));
    choose(op_->getResult(0), is_exception, zero);
  }

 private:
  // Rounded up: upstream's way wraps round at both ends.
  Value expand() {
    if (!llvm::isa<arith::CeilDivSIOp>(op_)) return op_->getResult(0);
    const Value number = op_->getOperand(0), divisor = op_->getOperand(1), zero = make(llvm::APInt::getZero(width_));
    const Value quotient = builder_.create<arith::DivSIOp>(location_, number, divisor);
    const Value rest = builder_.create<arith::RemSIOp>(location_, number, divisor);
    // What is left has the sign of the number.
    const Value signs = builder_.create<arith::XOrIOp>(location_, rest, divisor);
    const Value is_more = builder_.create<arith::AndIOp>(location_, compare(CmpIPredicate::ne, rest, zero),
                                                         compare(CmpIPredicate::sge, signs, zero));
    const Value next = builder_.create<arith::AddIOp>(location_, quotient, make(llvm::APInt(width_, 1)));
    const Value rounded = builder_.create<arith::SelectOp>(location_, is_more, next, quotient);
    op_->getResult(0).replaceAllUsesWith(rounded);
    op_->erase();
    op_ = rounded.getDefiningOp();
    return rounded;
  }
  // The range of half floats ends below that of 32-bit integers, so a conversion from one goes by f32, which is exact.
  Value wide_enough(Value value) {
    if (width_of(value.getType()) >= 32) return value;
    auto vector = llvm::dyn_cast<mlir::VectorType>(value.getType());
    mlir::Type f32 = builder_.getF32Type();
    if (vector) f32 = vector.clone(f32);
    return builder_.create<arith::ExtFOp>(location_, f32, value);
  }
  Value make(const llvm::APInt& value) { return number(builder_, location_, type_, value); }
  Value compare(CmpIPredicate predicate, Value a, Value b) {
    return builder_.create<arith::CmpIOp>(location_, predicate, a, b);
  }
  // In place of `result`, `other` where `is_exception`.
  void choose(Value result, Value is_exception, Value other) {
    builder_.setInsertionPointAfterValue(result);
    auto chosen = builder_.create<arith::SelectOp>(location_, is_exception, other, result);
    result.replaceAllUsesExcept(chosen.getResult(), chosen);
  }

  Operation* op_;
  OpBuilder builder_;
  Location location_;
  mlir::Type type_;
  unsigned width_;
};

bool is_kernel(Operation* op) {
  return llvm::isa<mlir::linalg::LinalgOp, mlir::tensor::GenerateOp, mlir::tensor::PadOp, mlir::func::FuncOp,
                   flow::DispatchRegionOp, stream::ExecutableOp, hal::ExecutableOp, hal::ExecutableSourceOp>(op);
}

}  // namespace

void make_integers_total(Operation* root) {
  llvm::SmallVector<Operation*> found;
  root->walk<mlir::WalkOrder::PreOrder>([&](Operation* kernel) {
    if (!is_kernel(kernel)) return mlir::WalkResult::advance();
    kernel->walk([&](Operation* op) {
      if (auto flags = llvm::dyn_cast<arith::ArithIntegerOverflowFlagsInterface>(op)) {
        op->setAttr(flags.getIntegerOverflowAttrName(),
                    arith::IntegerOverflowFlagsAttr::get(op->getContext(), arith::IntegerOverflowFlags::none));
      }
      if ((is_division(op) || is_shift(op) || is_from_float(op)) && is_rewritten(op)) found.push_back(op);
    });
    return mlir::WalkResult::skip();
  });
  for (Operation* op : found) {
    // The operation may be another one afterwards.
    if (is_division(op)) {
      Total(op).division();
    } else if (is_shift(op)) {
      Total(op).shift();
    } else {
      Total(op).from_float();
    }
  }
}

}  // namespace baton::compiler_lite::codegen
