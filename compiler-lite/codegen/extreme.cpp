#include "compiler-lite/codegen/gpu/extreme.hpp"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace baton::compiler_lite::codegen::gpu {

namespace arith = mlir::arith;
using mlir::Location;
using mlir::OpBuilder;
using mlir::Value;
using mlir::ValueRange;

namespace {

// Of two operands, in either order, the one that `is`, and the other one; null where neither is.
template <typename Op, typename Is>
std::pair<Value, Value> either(Value value, const Is& is) {
  auto op = value.getDefiningOp<Op>();
  if (!op) return {};
  if (is(op.getLhs())) return {op.getLhs(), op.getRhs()};
  if (is(op.getRhs())) return {op.getRhs(), op.getLhs()};
  return {};
}

bool compares(Value value, arith::CmpFPredicate how, Value a, Value b) {
  auto op = value.getDefiningOp<arith::CmpFOp>();
  return op && op.getPredicate() == how && op.getLhs() == a && op.getRhs() == b;
}

bool are_equal(Value value, Value a, Value b) {
  return compares(value, arith::CmpFPredicate::OEQ, a, b) || compares(value, arith::CmpFPredicate::OEQ, b, a);
}

bool is_nan(Value value, Value of) {
  return compares(value, arith::CmpFPredicate::UNE, of, of) || compares(value, arith::CmpFPredicate::UNO, of, of);
}

// Which of them comes first: true for the smaller one; nothing where the value says something else.
std::optional<bool> orders(Value value, Value so_far, Value element) {
  using P = arith::CmpFPredicate;
  if (compares(value, P::OGT, so_far, element) || compares(value, P::OLT, element, so_far)) return false;
  if (compares(value, P::OLT, so_far, element) || compares(value, P::OGT, element, so_far)) return true;
  return std::nullopt;
}

}  // namespace

std::optional<Extreme> extreme_of(mlir::linalg::GenericOp op) {
  mlir::Block& body = op.getRegion().front();
  if (op.getNumDpsInits() != 2) return std::nullopt;
  const Value so_far = op.getRegionOutputArgs()[0], its_place = op.getRegionOutputArgs()[1];
  if (!llvm::isa<mlir::FloatType>(so_far.getType()) || !llvm::isa<mlir::IntegerType>(its_place.getType())) {
    return std::nullopt;
  }
  auto first = body.getTerminator()->getOperand(0).getDefiningOp<arith::SelectOp>();
  auto second = body.getTerminator()->getOperand(1).getDefiningOp<arith::SelectOp>();
  if (!first || !second || first.getTrueValue() != so_far || second.getTrueValue() != its_place) return std::nullopt;
  const Value element = first.getFalseValue(), place = second.getFalseValue(), keeps = first.getCondition();
  const auto nan = either<arith::OrIOp>(keeps, [&](Value each) { return is_nan(each, so_far); });
  const std::optional<bool> is_smallest = nan.first ? orders(nan.second, so_far, element) : std::nullopt;
  const auto tie = either<arith::OrIOp>(second.getCondition(), [&](Value each) { return each == keeps; });
  if (!is_smallest || !tie.first) return std::nullopt;
  const auto equal = either<arith::AndIOp>(tie.second, [&](Value each) { return are_equal(each, so_far, element); });
  auto before = equal.first ? equal.second.getDefiningOp<arith::CmpIOp>() : arith::CmpIOp();
  if (!before || before.getLhs() != its_place || before.getRhs() != place) return std::nullopt;
  const arith::CmpIPredicate how = before.getPredicate();
  if (how != arith::CmpIPredicate::slt && how != arith::CmpIPredicate::ult) return std::nullopt;
  // What is compared comes of the element alone.
  llvm::SmallPtrSet<mlir::Operation*, 8> known = {first,
                                                  second,
                                                  keeps.getDefiningOp(),
                                                  nan.first.getDefiningOp(),
                                                  nan.second.getDefiningOp(),
                                                  second.getCondition().getDefiningOp(),
                                                  tie.second.getDefiningOp(),
                                                  equal.first.getDefiningOp(),
                                                  before};
  for (const Value each : {so_far, its_place}) {
    for (mlir::Operation* user : each.getUsers()) {
      if (!known.contains(user)) return std::nullopt;
    }
  }
  return Extreme{*is_smallest, how == arith::CmpIPredicate::ult};
}

Values ExtremeJoiner::join(OpBuilder& builder, ValueRange a, ValueRange b) const {
  const Location location = a[0].getLoc();
  const auto compare = [&](arith::CmpFPredicate how, Value one, Value other) -> Value {
    return builder.create<arith::CmpFOp>(location, how, one, other);
  };
  const auto both = [&](Value one, Value other) -> Value {
    return builder.create<arith::AndIOp>(location, one, other);
  };
  const auto any = [&](Value one, Value other) -> Value { return builder.create<arith::OrIOp>(location, one, other); };
  using P = arith::CmpFPredicate;
  const Value a_is_nan = compare(P::UNO, a[0], a[0]), b_is_nan = compare(P::UNO, b[0], b[0]);
  const Value b_is_number = compare(P::ORD, b[0], b[0]);
  const Value first = any(compare(extreme_.is_smallest ? P::OLT : P::OGT, a[0], b[0]), both(a_is_nan, b_is_number));
  const Value equal = any(compare(P::OEQ, a[0], b[0]), both(a_is_nan, b_is_nan));
  const auto below = extreme_.is_unsigned ? arith::CmpIPredicate::ult : arith::CmpIPredicate::slt;
  const Value takes = any(first, both(equal, builder.create<arith::CmpIOp>(location, below, a[1], b[1])));
  Values joined;
  for (size_t i = 0; i < 2; ++i) joined.push_back(builder.create<arith::SelectOp>(location, takes, a[i], b[i]));
  return joined;
}

}  // namespace baton::compiler_lite::codegen::gpu
