#include "compiler-lite/codegen/cuda/wide_body.hpp"

#include <cmath>

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/RegionUtils.h"

namespace baton::compiler_lite::codegen::cuda {
namespace {

namespace arith = mlir::arith;
namespace linalg = mlir::linalg;
using mlir::Location;
using mlir::OpBuilder;
using mlir::Operation;
using mlir::Value;
using mlir::ValueRange;

bool is_half(mlir::Type type) { return type.isF16() || type.isBF16(); }

class WideBody {
 public:
  WideBody(OpBuilder& builder, linalg::GenericOp op, ValueRange point, const AttentionMask* counts)
      : builder_(builder), op_(op), location_(op.getLoc()), point_(point), counts_(counts) {}

  Value compute(ValueRange operands) {
    mlir::Block& body = *op_.getBody();
    for (auto [argument, operand] : llvm::zip_equal(body.getArguments(), operands)) put(argument, operand);
    for (Operation& each : body.without_terminator()) take(each);
    return widened(body.getTerminator()->getOperand(0));
  }

 private:
  // Values stand as they are, halves in f32.
  void put(Value of_body, Value value) { values_.map(of_body, is_half(value.getType()) ? widen(value) : value); }
  Value widen(Value value) { return builder_.create<arith::ExtFOp>(location_, builder_.getF32Type(), value); }
  Value widened(Value of_body) {
    const Value value = values_.lookupOrDefault(of_body);
    if (value.getType().isF32()) return value;
    return is_half(value.getType()) ? widen(value)
                                    : Value(builder_.create<arith::TruncFOp>(location_, builder_.getF32Type(), value));
  }
  bool is_wide(Value of_body) { return is_half(of_body.getType()) || of_body.getType().isF32(); }

  void take(Operation& op) {
    if (counts_ && counts_->choice() == &op) return values_.map(op.getResult(0), widened(counts_->counted()));
    if (auto index = llvm::dyn_cast<linalg::IndexOp>(op)) return values_.map(index.getResult(), point_[index.getDim()]);
    if (take_wide(op)) return;
    // Anything else is done with the types that it names.
    llvm::SetVector<Value> read(op.operand_begin(), op.operand_end());
    mlir::getUsedValuesDefinedAbove(op.getRegions(), read);
    for (const Value operand : read) narrow(operand);
    Operation* const clone = builder_.clone(op, narrow_);
    clone->walk([&](linalg::IndexOp index) {
      index.replaceAllUsesWith(point_[index.getDim()]);
      index.erase();
    });
    for (auto [before, after] : llvm::zip_equal(op.getResults(), clone->getResults())) put(before, after);
  }

  // Takes operations whose result in f32 is as good as in half floats, or better.
  bool take_wide(Operation& op) {
    if (op.getNumResults() != 1) return false;
    const Value result = op.getResult(0);
    mlir::FloatAttr number;
    if (is_half(result.getType()) && mlir::matchPattern(result, mlir::m_Constant(&number))) {
      values_.map(result, constant(number.getValueAsDouble()));
      return true;
    }
    if (llvm::isa<arith::ExtFOp, arith::TruncFOp>(op) && is_wide(result) && is_wide(op.getOperand(0))) {
      values_.map(result, widened(op.getOperand(0)));
      return true;
    }
    if (auto comparison = llvm::dyn_cast<arith::CmpFOp>(op); comparison && is_wide(op.getOperand(0))) {
      const Value a = widened(op.getOperand(0)), b = widened(op.getOperand(1));
      values_.map(result, builder_.create<arith::CmpFOp>(location_, comparison.getPredicate(), a, b));
      return true;
    }
    if (!is_wide(result)) return false;
    if (llvm::isa<arith::SelectOp>(op)) {
      const Value condition = values_.lookupOrDefault(op.getOperand(0));
      const Value a = widened(op.getOperand(1)), b = widened(op.getOperand(2));
      values_.map(result, builder_.create<arith::SelectOp>(location_, condition, a, b));
      return true;
    }
    if (auto quotient = llvm::dyn_cast<arith::DivFOp>(op); quotient && divide(quotient)) return true;
    if (auto product = llvm::dyn_cast<arith::MulFOp>(op)) {
      values_.map(result, multiply(widened(product.getLhs()), widened(product.getRhs())));
      return true;
    }
    const bool goes_by_type = op.hasTrait<mlir::OpTrait::SameOperandsAndResultType>() && op.getNumRegions() == 0 &&
                              llvm::isa<arith::ArithDialect, mlir::math::MathDialect>(op.getDialect());
    if (!goes_by_type) return false;
    mlir::OperationState state(location_, op.getName());
    for (const Value operand : op.getOperands()) state.operands.push_back(widened(operand));
    state.types.push_back(builder_.getF32Type());
    state.attributes = op.getAttrs();
    values_.map(result, builder_.create(state)->getResult(0));
    return true;
  }

  // A division by a constant, as by the root of a size, is sooner a product, and off by less than a half shows.
  bool divide(arith::DivFOp quotient) {
    mlir::FloatAttr number;
    if (!mlir::matchPattern(quotient.getRhs(), mlir::m_Constant(&number))) return false;
    const double by = number.getValueAsDouble();
    if (!(by != 0) || !std::isfinite(by) || !std::isnormal(static_cast<float>(1 / by))) return false;
    const Value a = widened(quotient.getLhs());
    values_.map(quotient.getResult(), multiply(a, constant(1 / by)));
    return true;
  }
  // Constants of several become one.
  Value multiply(Value a, Value b) {
    return builder_.create<arith::MulFOp>(location_, a, b, arith::FastMathFlags::reassoc);
  }

  Value constant(double number) {
    return builder_.create<arith::ConstantOp>(location_, builder_.getF32FloatAttr(static_cast<float>(number)));
  }

  void narrow(Value of_body) {
    const Value value = values_.lookupOrDefault(of_body);
    const bool differs = is_half(of_body.getType()) && value.getType() != of_body.getType();
    narrow_.map(of_body,
                differs ? builder_.create<arith::TruncFOp>(location_, of_body.getType(), value).getResult() : value);
  }

  OpBuilder& builder_;
  linalg::GenericOp op_;
  Location location_;
  ValueRange point_;
  const AttentionMask* counts_;
  mlir::IRMapping values_, narrow_;
};

}  // namespace

Value compute_wide(OpBuilder& builder, linalg::GenericOp op, ValueRange point, ValueRange operands,
                   const AttentionMask* counts) {
  return WideBody(builder, op, point, counts).compute(operands);
}

}  // namespace baton::compiler_lite::codegen::cuda
