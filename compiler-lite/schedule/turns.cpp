#include "compiler-lite/schedule/turns.hpp"

#include <algorithm>
#include <cmath>

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

namespace baton::compiler_lite::schedule {
namespace {

namespace arith = mlir::arith;
namespace scf = mlir::scf;
using mlir::Value;

std::optional<double> constant_of(Value value) {
  mlir::APInt number;
  if (!mlir::matchPattern(value, mlir::m_ConstantInt(&number))) return std::nullopt;
  return double(number.getSExtValue());
}

// A number that begins as `first`, and the loop goes on while it is below `end`.
std::optional<double> count_turns(double first, double end, double step) {
  if (step <= 0) return std::nullopt;
  return std::max(0.0, std::ceil((end - first) / step));
}

// What `next` is more than `now`, a constant.
std::optional<double> step_of(Value next, Value now) {
  if (auto more = next.getDefiningOp<arith::AddIOp>()) {
    if (more.getLhs() == now) return constant_of(more.getRhs());
    return more.getRhs() == now ? constant_of(more.getLhs()) : std::nullopt;
  }
  auto less = next.getDefiningOp<arith::SubIOp>();
  const std::optional<double> by = less && less.getLhs() == now ? constant_of(less.getRhs()) : std::nullopt;
  return by ? std::optional(-*by) : std::nullopt;
}

// Of a loop that ends at the latest when `compare` is false: a number that begins with a constant and changes by a
// constant in each turn is compared with a constant, which it passes before it has no room.
std::optional<double> turns_while(scf::WhileOp loop, arith::CmpIOp compare) {
  const auto counter = llvm::dyn_cast<mlir::BlockArgument>(compare.getLhs());
  if (!counter || counter.getOwner() != loop.getBeforeBody()) return std::nullopt;
  const unsigned place = counter.getArgNumber();
  const mlir::OperandRange handed = loop.getConditionOp().getArgs();
  const auto found = llvm::find(handed, counter);
  if (found == handed.end()) return std::nullopt;
  const Value now = loop.getAfterArguments()[static_cast<unsigned>(found - handed.begin())];
  const std::optional<double> first = constant_of(loop.getInits()[place]), end = constant_of(compare.getRhs()),
                              step = step_of(loop.getYieldOp().getOperand(place), now);
  if (!first || !end || !step) return std::nullopt;
  const unsigned width = counter.getType().isIndex() ? 64 : counter.getType().getIntOrFloatBitWidth();
  if (std::abs(*end) + std::abs(*step) >= std::exp2(width - 1)) return std::nullopt;
  switch (compare.getPredicate()) {
    case arith::CmpIPredicate::ult: return *first >= 0 && *end >= 0 ? count_turns(*first, *end, *step) : std::nullopt;
    case arith::CmpIPredicate::slt: return count_turns(*first, *end, *step);
    case arith::CmpIPredicate::sle: return count_turns(*first, *end + 1, *step);
    case arith::CmpIPredicate::sgt: return count_turns(-*first, -*end, -*step);
    case arith::CmpIPredicate::sge: return count_turns(-*first, -*end + 1, -*step);
    default: return std::nullopt;
  }
}

// The loop goes on only where all parts of `condition` hold: the first to fail ends it.
std::optional<double> turns_while(scf::WhileOp loop, Value condition) {
  if (auto compare = condition.getDefiningOp<arith::CmpIOp>()) return turns_while(loop, compare);
  auto both = condition.getDefiningOp<arith::AndIOp>();
  if (!both) return std::nullopt;
  const std::optional<double> one = turns_while(loop, both.getLhs()), other = turns_while(loop, both.getRhs());
  return one && other ? std::min(*one, *other) : one ? one : other;
}

}  // namespace

std::optional<double> turns_at_most(mlir::LoopLikeOpInterface loop) {
  if (auto unknown = llvm::dyn_cast<scf::WhileOp>(*loop)) {
    return turns_while(unknown, unknown.getConditionOp().getCondition());
  }
  auto counted = llvm::cast<scf::ForOp>(*loop);
  const std::optional<double> first = constant_of(counted.getLowerBound()), end = constant_of(counted.getUpperBound()),
                              step = constant_of(counted.getStep());
  return first && end && step ? count_turns(*first, *end, *step) : std::nullopt;
}

}  // namespace baton::compiler_lite::schedule
