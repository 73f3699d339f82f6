#include "compiler-lite/codegen/extreme.hpp"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace baton::compiler_lite::codegen {
namespace {

namespace arith = mlir::arith;
using mlir::Location;
using mlir::OpBuilder;
using mlir::Value;
using mlir::ValueRange;

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
bool compares(Value value, arith::CmpIPredicate how, Value a, Value b) {
  auto op = value.getDefiningOp<arith::CmpIOp>();
  return op && op.getPredicate() == how && op.getLhs() == a && op.getRhs() == b;
}

bool are_equal(Value value, Value a, Value b) {
  return compares(value, arith::CmpFPredicate::OEQ, a, b) || compares(value, arith::CmpFPredicate::OEQ, b, a) ||
         compares(value, arith::CmpIPredicate::eq, a, b) || compares(value, arith::CmpIPredicate::eq, b, a);
}

bool is_nan(Value value, Value of) {
  return compares(value, arith::CmpFPredicate::UNE, of, of) || compares(value, arith::CmpFPredicate::UNO, of, of);
}

struct Order {
  bool is_smallest, is_unsigned;
};
// How the body tells that `first` comes before `second`; nothing where the value says something else.
std::optional<Order> order_of(Value value, Value first, Value second) {
  using F = arith::CmpFPredicate;
  using I = arith::CmpIPredicate;
  const auto either_way = [&](auto how, auto reversed) {
    return compares(value, how, first, second) || compares(value, reversed, second, first);
  };
  if (either_way(F::OGT, F::OLT)) return Order{false, false};
  if (either_way(F::OLT, F::OGT)) return Order{true, false};
  if (either_way(I::sgt, I::slt)) return Order{false, false};
  if (either_way(I::slt, I::sgt)) return Order{true, false};
  if (either_way(I::ugt, I::ult)) return Order{false, true};
  if (either_way(I::ult, I::ugt)) return Order{true, true};
  return std::nullopt;
}

// The element that is joined with `so_far`, where an operation on integers takes the one that `order` says; else null.
Value element_of_integers(Value yielded, Value so_far, const Order& order) {
  const auto is_so_far = [&](Value each) { return each == so_far; };
  if (order.is_unsigned) {
    return order.is_smallest ? either<arith::MinUIOp>(yielded, is_so_far).second
                             : either<arith::MaxUIOp>(yielded, is_so_far).second;
  }
  return order.is_smallest ? either<arith::MinSIOp>(yielded, is_so_far).second
                           : either<arith::MaxSIOp>(yielded, is_so_far).second;
}

bool is_step(mlir::linalg::GenericOp op, mlir::linalg::IndexOp index) {
  return op.getIteratorTypesArray()[index.getDim()] == mlir::utils::IteratorType::reduction;
}

// Whether it is another number at another step, as far as one knows.
bool depends_on_step(mlir::linalg::GenericOp op, Value value) {
  mlir::Operation* made = value.getDefiningOp();
  if (!made || made->getNumRegions() != 0) return true;
  if (auto index = llvm::dyn_cast<mlir::linalg::IndexOp>(made)) return is_step(op, index);
  if (made->getBlock() != op.getBlock()) return false;
  return llvm::any_of(made->getOperands(), [&](Value each) { return depends_on_step(op, each); });
}

// The index of the one loop that reduces, or that behind what is the same for all steps, in a type of the body.
bool grows_with_steps(mlir::linalg::GenericOp op, Value place) {
  if (op.getNumReductionLoops() != 1) return false;
  if (auto cast = place.getDefiningOp<arith::IndexCastOp>()) return grows_with_steps(op, cast.getIn());
  if (auto index = place.getDefiningOp<mlir::linalg::IndexOp>()) return is_step(op, index);
  const auto steps = either<arith::AddIOp>(place, [&](Value each) { return !depends_on_step(op, each); });
  return steps.first && grows_with_steps(op, steps.second);
}

// Looks for one of the forms, with the results in one order.
class Matcher {
 public:
  Matcher(mlir::linalg::GenericOp op, unsigned value, unsigned place)
      : op_(op),
        so_far_(op.getRegionOutputArgs()[value]),
        its_place_(op.getRegionOutputArgs()[place]),
        value_(op.getBlock()->getTerminator()->getOperand(value)),
        place_(op.getBlock()->getTerminator()->getOperand(place)) {
    found_.value = value;
    found_.place = place;
  }

  std::optional<Extreme> match() {
    auto chosen = place_.getDefiningOp<arith::SelectOp>();
    const bool has_numbers = (so_far_.getType().isIntOrFloat()) && its_place_.getType().isInteger();
    if (!chosen || !has_numbers) return std::nullopt;
    note(chosen);
    const bool matches = chosen.getTrueValue() == its_place_ ? keeps(chosen) : takes(chosen) || joins(chosen);
    return matches && come_of_element_alone() ? std::optional(found_) : std::nullopt;
  }

 private:
  void note(Value value) { known_.insert(value.getDefiningOp()); }

  bool keeps(arith::SelectOp chosen) {
    const Value condition = chosen.getCondition(), place = chosen.getFalseValue();
    auto both = condition.getDefiningOp<arith::OrIOp>();
    if (!both) return false;
    note(both);
    const Extreme found = found_;
    const llvm::SmallPtrSet<mlir::Operation*, 8> known = known_;
    for (const auto& [keeps, tie] :
         {std::pair(both.getLhs(), both.getRhs()), std::pair(both.getRhs(), both.getLhs())}) {
      const Value element = kept_element(keeps);
      if (element && is_tie(tie, element, place)) return true;
      found_ = found;
      known_ = known;
    }
    return false;
  }

  // The element that so_far is compared with, where it is kept for being larger or smaller, or NaN.
  Value kept_element(Value keeps) {
    Value order = keeps;
    const bool is_float = llvm::isa<mlir::FloatType>(so_far_.getType());
    if (is_float) {
      const auto nan = either<arith::OrIOp>(keeps, [&](Value each) { return is_nan(each, so_far_); });
      if (!nan.first) return {};
      order = nan.second;
      note(nan.first);
      found_.nan_comes_first = true;
    }
    Value element;
    if (auto select = value_.getDefiningOp<arith::SelectOp>()) {
      if (select.getCondition() == keeps && select.getTrueValue() == so_far_) element = select.getFalseValue();
    } else if (auto compared = order.getDefiningOp<arith::CmpIOp>()) {
      element = compared.getLhs() == so_far_ ? compared.getRhs() : compared.getLhs();
    }
    const std::optional<Order> ordered = element ? order_of(order, so_far_, element) : std::nullopt;
    if (!ordered) return {};
    const bool by_operation = !value_.getDefiningOp<arith::SelectOp>();
    if (by_operation && element_of_integers(value_, so_far_, *ordered) != element) return {};
    note(keeps), note(order), note(value_);
    take(*ordered);
    return element;
  }

  bool is_tie(Value tie, Value element, Value place) {
    const auto equal = either<arith::AndIOp>(tie, [&](Value each) { return are_equal(each, so_far_, element); });
    if (!equal.first || !stands_before(equal.second, its_place_, place)) return false;
    note(tie), note(equal.first);
    return true;
  }

  // Whether the value says that the one place is smaller than the other.
  bool stands_before(Value value, Value first, Value second) {
    const bool is_unsigned = compares(value, arith::CmpIPredicate::ult, first, second);
    if (!is_unsigned && !compares(value, arith::CmpIPredicate::slt, first, second)) return false;
    found_.has_unsigned_places = is_unsigned;
    note(value);
    return true;
  }

  bool takes(arith::SelectOp chosen) {
    if (chosen.getFalseValue() != its_place_ || !grows_with_steps(op_, chosen.getTrueValue())) return false;
    auto select = value_.getDefiningOp<arith::SelectOp>();
    if (!select || select.getCondition() != chosen.getCondition() || select.getFalseValue() != so_far_) return false;
    const std::optional<Order> ordered = order_of(chosen.getCondition(), select.getTrueValue(), so_far_);
    if (!ordered) return false;
    note(chosen.getCondition()), note(select);
    take(*ordered);
    return true;
  }

  // What `join_extremes` writes.
  bool joins(arith::SelectOp chosen) {
    auto select = value_.getDefiningOp<arith::SelectOp>();
    auto any = chosen.getCondition().getDefiningOp<arith::OrIOp>();
    if (!any || !select || select.getCondition() != any || chosen.getFalseValue() != its_place_ ||
        select.getFalseValue() != so_far_) {
      return false;
    }
    const Value element = select.getTrueValue();
    auto tie = any.getRhs().getDefiningOp<arith::AndIOp>();
    if (!tie || !stands_before(tie.getRhs(), chosen.getTrueValue(), its_place_)) return false;
    Value first = any.getLhs(), equal = tie.getLhs();
    if (auto with_nan = first.getDefiningOp<arith::OrIOp>()) {
      auto or_both = equal.getDefiningOp<arith::OrIOp>();
      if (!or_both || !are_both(with_nan.getRhs(), element, arith::CmpFPredicate::ORD) ||
          !are_both(or_both.getRhs(), element, arith::CmpFPredicate::UNO)) {
        return false;
      }
      found_.nan_comes_first = true;
      note(first), note(equal);
      first = with_nan.getLhs(), equal = or_both.getLhs();
    }
    const std::optional<Order> ordered = order_of(first, element, so_far_);
    if (!ordered || !are_equal(equal, element, so_far_)) return false;
    for (const Value each : {any.getResult(), select.getResult(), tie.getResult(), first, equal}) {
      note(each);
    }
    take(*ordered);
    return true;
  }

  // Whether the element is NaN, and so_far is so, or is not.
  bool are_both(Value value, Value element, arith::CmpFPredicate so_far_is) {
    auto both = value.getDefiningOp<arith::AndIOp>();
    if (!both || !is_nan(both.getLhs(), element) || !compares(both.getRhs(), so_far_is, so_far_, so_far_)) return false;
    note(both.getRhs());
    return true;
  }

  void take(const Order& order) {
    found_.is_smallest = order.is_smallest;
    found_.has_unsigned_values = order.is_unsigned;
  }

  // What is compared with so_far and its place reads neither.
  bool come_of_element_alone() const {
    for (const Value each : {so_far_, its_place_}) {
      for (mlir::Operation* user : each.getUsers()) {
        if (!known_.contains(user)) return false;
      }
    }
    return true;
  }

  mlir::linalg::GenericOp op_;
  Value so_far_, its_place_, value_, place_;
  Extreme found_;
  llvm::SmallPtrSet<mlir::Operation*, 8> known_;
};

}  // namespace

std::optional<Extreme> extreme_of(mlir::linalg::GenericOp op) {
  if (op.getNumDpsInits() != 2) return std::nullopt;
  if (const std::optional<Extreme> extreme = Matcher(op, 0, 1).match()) return extreme;
  return Matcher(op, 1, 0).match();
}

llvm::SmallVector<Value> join_extremes(OpBuilder& builder, const Extreme& extreme, ValueRange a, ValueRange b) {
  const Location location = a[0].getLoc();
  const Value so_far = a[extreme.value], element = b[extreme.value];
  const auto both = [&](Value one, Value other) -> Value {
    return builder.create<arith::AndIOp>(location, one, other);
  };
  const auto any = [&](Value one, Value other) -> Value { return builder.create<arith::OrIOp>(location, one, other); };
  const auto of_places = extreme.has_unsigned_places ? arith::CmpIPredicate::ult : arith::CmpIPredicate::slt;
  const Value before = builder.create<arith::CmpIOp>(location, of_places, b[extreme.place], a[extreme.place]);
  Value first, equal;
  if (llvm::isa<mlir::FloatType>(so_far.getType())) {
    using P = arith::CmpFPredicate;
    const auto compare = [&](P how, Value one, Value other) -> Value {
      return builder.create<arith::CmpFOp>(location, how, one, other);
    };
    first = compare(extreme.is_smallest ? P::OLT : P::OGT, element, so_far);
    equal = compare(P::OEQ, element, so_far);
    if (extreme.nan_comes_first) {
      const Value is_nan = compare(P::UNO, element, element), was_nan = compare(P::UNO, so_far, so_far);
      first = any(first, both(is_nan, compare(P::ORD, so_far, so_far)));
      equal = any(equal, both(is_nan, was_nan));
    }
  } else {
    using P = arith::CmpIPredicate;
    const P how =
        extreme.has_unsigned_values ? (extreme.is_smallest ? P::ult : P::ugt) : (extreme.is_smallest ? P::slt : P::sgt);
    first = builder.create<arith::CmpIOp>(location, how, element, so_far);
    equal = builder.create<arith::CmpIOp>(location, P::eq, element, so_far);
  }
  const Value takes = any(first, both(equal, before));
  llvm::SmallVector<Value> joined;
  for (size_t i = 0; i < 2; ++i) joined.push_back(builder.create<arith::SelectOp>(location, takes, b[i], a[i]));
  return joined;
}

}  // namespace baton::compiler_lite::codegen
