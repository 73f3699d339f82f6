#include "compiler-lite/codegen/attention_mask.hpp"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/IR/Matchers.h"

namespace baton::compiler_lite::codegen {
namespace {

namespace arith = mlir::arith;
namespace linalg = mlir::linalg;
using mlir::Location;
using mlir::OpBuilder;
using mlir::Value;
using mlir::ValueRange;
using Answer = AttentionMask::Answer;
using Range = AttentionMask::Range;

// Sums of a few numbers below it don't wrap in 32 bits, in which conditions are often computed.
constexpr int64_t kLargest = int64_t{1} << 28;

// What one condition says about a rectangle of scores, written as operations on indices.
class Reader {
 public:
  Reader(OpBuilder& builder, Location location, const Attention& attention, Range rows, Range keys, ValueRange at,
         ValueRange fixed)
      : builder_(builder),
        location_(location),
        attention_(attention),
        body_(linalg::GenericOp(attention.masked).getBody()),
        rows_(rows),
        keys_(keys),
        at_(at),
        fixed_(fixed) {}

  Answer truth_of(Value condition) {
    Answer answer = read(condition);
    for (const Value each : sound_) answer = {both(answer.all, each), both(answer.none, each)};
    return answer;
  }

 private:
  Value truth(bool value) { return builder_.create<arith::ConstantIntOp>(location_, value, 1); }
  Value index(int64_t value) { return builder_.create<arith::ConstantIndexOp>(location_, value); }
  Value both(Value a, Value b) { return builder_.createOrFold<arith::AndIOp>(location_, a, b); }
  Value either(Value a, Value b) { return builder_.createOrFold<arith::OrIOp>(location_, a, b); }
  Value compare(arith::CmpIPredicate how, Value a, Value b) {
    return builder_.createOrFold<arith::CmpIOp>(location_, how, a, b);
  }
  Answer unknown() { return {truth(false), truth(false)}; }

  Answer read(Value condition) {
    llvm::APInt number;
    if (mlir::matchPattern(condition, mlir::m_ConstantInt(&number))) {
      return {truth(!number.isZero()), truth(number.isZero())};
    }
    mlir::Operation* op = condition.getDefiningOp();
    if (auto comparison = llvm::dyn_cast_or_null<arith::CmpIOp>(op)) return read(comparison);
    if (!llvm::isa_and_nonnull<arith::AndIOp, arith::OrIOp, arith::XOrIOp>(op)) return unknown();
    const Answer a = read(op->getOperand(0)), b = read(op->getOperand(1));
    if (llvm::isa<arith::AndIOp>(op)) return {both(a.all, b.all), either(a.none, b.none)};
    if (llvm::isa<arith::OrIOp>(op)) return {either(a.all, b.all), both(a.none, b.none)};
    return {either(both(a.all, b.none), both(a.none, b.all)), either(both(a.all, b.all), both(a.none, b.none))};
  }

  Answer read(arith::CmpIOp comparison) {
    const std::optional<Range> a = range_of(comparison.getLhs()), b = range_of(comparison.getRhs());
    if (!a || !b) return unknown();
    using P = arith::CmpIPredicate;
    Answer answer = unknown();
    bool is_unsigned = false;
    switch (comparison.getPredicate()) {
      case P::ult: is_unsigned = true; [[fallthrough]];
      case P::slt: answer = {compare(P::slt, a->last, b->first), compare(P::sge, a->first, b->last)}; break;
      case P::ule: is_unsigned = true; [[fallthrough]];
      case P::sle: answer = {compare(P::sle, a->last, b->first), compare(P::sgt, a->first, b->last)}; break;
      case P::ugt: is_unsigned = true; [[fallthrough]];
      case P::sgt: answer = {compare(P::sgt, a->first, b->last), compare(P::sle, a->last, b->first)}; break;
      case P::uge: is_unsigned = true; [[fallthrough]];
      case P::sge: answer = {compare(P::sge, a->first, b->last), compare(P::slt, a->last, b->first)}; break;
      case P::eq: answer.none = are_apart(*a, *b); break;
      case P::ne: answer.all = are_apart(*a, *b); break;
    }
    if (!is_unsigned) return answer;
    const Value positive = both(compare(P::sge, a->first, index(0)), compare(P::sge, b->first, index(0)));
    return {both(answer.all, positive), both(answer.none, positive)};
  }
  Value are_apart(const Range& a, const Range& b) {
    return either(compare(arith::CmpIPredicate::slt, a.last, b.first),
                  compare(arith::CmpIPredicate::sgt, a.first, b.last));
  }

  std::optional<Range> range_of(Value number) {
    llvm::APInt constant;
    if (mlir::matchPattern(number, mlir::m_ConstantInt(&constant))) return range_of(constant.getSExtValue());
    if (auto argument = llvm::dyn_cast<mlir::BlockArgument>(number)) return range_of(argument);
    mlir::Operation* op = number.getDefiningOp();
    if (auto place = llvm::dyn_cast<linalg::IndexOp>(op)) return range_of_loop(place.getDim());
    if (auto sum = llvm::dyn_cast<mlir::affine::AffineApplyOp>(op)) {
      const mlir::AffineMap map = sum.getAffineMap();
      return range_of(map.getResult(0), sum.getMapOperands().take_front(map.getNumDims()),
                      sum.getMapOperands().drop_front(map.getNumDims()));
    }
    if (llvm::isa<arith::IndexCastOp, arith::ExtSIOp, arith::TruncIOp>(op)) {
      return number.getType().getIntOrFloatBitWidth() < 32 ? std::nullopt : range_of(op->getOperand(0));
    }
    if (!llvm::isa<arith::AddIOp, arith::SubIOp>(op)) return std::nullopt;
    const std::optional<Range> a = range_of(op->getOperand(0)), b = range_of(op->getOperand(1));
    if (!a || !b) return std::nullopt;
    return llvm::isa<arith::AddIOp>(op) ? sum_of(*a, *b)
                                        : Range{difference(a->first, b->last), difference(a->last, b->first)};
  }
  std::optional<Range> range_of(int64_t constant) {
    if (constant <= -kLargest || constant >= kLargest) return std::nullopt;
    return Range{index(constant), index(constant)};
  }
  std::optional<Range> range_of(mlir::BlockArgument argument) {
    const Value value = argument.getArgNumber() < fixed_.size() ? fixed_[argument.getArgNumber()] : Value();
    if (!value || argument.getOwner() != body_) return std::nullopt;
    Value number = value;
    if (!number.getType().isIndex()) {
      number = builder_.create<arith::IndexCastOp>(location_, builder_.getIndexType(), number);
    }
    sound_.push_back(both(compare(arith::CmpIPredicate::sgt, number, index(-kLargest)),
                          compare(arith::CmpIPredicate::slt, number, index(kLargest))));
    return Range{number, number};
  }
  std::optional<Range> range_of_loop(uint64_t loop) {
    if (loop == attention_.row) return rows_;
    if (loop == attention_.key) return keys_;
    return Range{at_[loop], at_[loop]};
  }
  std::optional<Range> range_of(mlir::AffineExpr expression, ValueRange dims, ValueRange symbols) {
    if (auto constant = llvm::dyn_cast<mlir::AffineConstantExpr>(expression)) return range_of(constant.getValue());
    if (auto dim = llvm::dyn_cast<mlir::AffineDimExpr>(expression)) return range_of(dims[dim.getPosition()]);
    if (auto symbol = llvm::dyn_cast<mlir::AffineSymbolExpr>(expression))
      return range_of(symbols[symbol.getPosition()]);
    const auto sum = llvm::cast<mlir::AffineBinaryOpExpr>(expression);
    if (sum.getKind() != mlir::AffineExprKind::Add) return std::nullopt;
    const std::optional<Range> a = range_of(sum.getLHS(), dims, symbols), b = range_of(sum.getRHS(), dims, symbols);
    return a && b ? std::optional(sum_of(*a, *b)) : std::nullopt;
  }
  Range sum_of(const Range& a, const Range& b) {
    return {builder_.createOrFold<arith::AddIOp>(location_, a.first, b.first),
            builder_.createOrFold<arith::AddIOp>(location_, a.last, b.last)};
  }
  Value difference(Value a, Value b) { return builder_.createOrFold<arith::SubIOp>(location_, a, b); }

  OpBuilder& builder_;
  Location location_;
  const Attention& attention_;
  mlir::Block* body_;  // Of `masked`.
  Range rows_, keys_;
  ValueRange at_, fixed_;
  llvm::SmallVector<Value> sound_;  // What must hold for an answer.
};

}  // namespace

std::optional<AttentionMask> AttentionMask::find(const Attention& attention) {
  linalg::GenericOp masked = attention.masked;
  if (!masked) return std::nullopt;
  auto choice = yielded(masked).getDefiningOp<arith::SelectOp>();
  if (!choice || !choice.getCondition().getType().isInteger(1)) return std::nullopt;
  for (const bool counts_where_true : {true, false}) {
    mlir::FloatAttr nothing;
    const Value other = counts_where_true ? choice.getFalseValue() : choice.getTrueValue();
    if (!mlir::matchPattern(other, mlir::m_Constant(&nothing))) continue;
    return AttentionMask(attention, choice, counts_where_true, nothing.getValueAsDouble());
  }
  return std::nullopt;
}

bool AttentionMask::is_fixed(mlir::OpOperand& operand) const {
  linalg::GenericOp masked = attention_.masked;
  const mlir::Type type = mlir::getElementTypeOrSelf(operand.get().getType());
  if (!type.isInteger(32) && !type.isInteger(64) && !type.isIndex()) return false;
  const mlir::AffineMap map = masked.getMatchingIndexingMap(&operand);
  const bool has_row = attention_.row != Attention::kNoRow && map.isFunctionOfDim(attention_.row);
  return masked.isDpsInput(&operand) && !has_row && !map.isFunctionOfDim(attention_.key);
}

AttentionMask::Answer AttentionMask::ask(OpBuilder& builder, Location location, Range rows, Range keys, ValueRange at,
                                         ValueRange fixed) const {
  const Answer answer = Reader(builder, location, attention_, rows, keys, at, fixed).truth_of(choice_.getCondition());
  return counts_where_true_ ? answer : Answer{answer.none, answer.all};
}

}  // namespace baton::compiler_lite::codegen
