// BoundRules: operations that go over loops. What is read along one loop has one size; a window lies inside of what it
// slides over; an index that a body computes from loops and the host's numbers lies inside of what it reads.
#include <cmath>

#include "compiler-lite/codegen/index_checks.hpp"
#include "compiler-lite/schedule/bound_rules.hpp"
#include "compiler-lite/schedule/tensors.hpp"
#include "llvm/Support/MathExtras.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace baton::compiler_lite::schedule {

namespace arith = mlir::arith;
namespace linalg = mlir::linalg;
namespace tensor = mlir::tensor;
using llvm::SmallVector;
using llvm::Twine;
using mlir::Operation;
using mlir::OpFoldResult;
using mlir::Value;

namespace {

std::string name_of(Operation* op) { return op->getName().getStringRef().str(); }

bool is_known(OpFoldResult size) { return mlir::getConstantIntValue(size).has_value(); }

// Where a loop's size is seen: dimension of operand.
struct Sight {
  mlir::OpOperand* operand;
  unsigned dimension;
};

// For each loop, the operands that go along it. A constant size comes first: it is the one to compare with.
SmallVector<SmallVector<Sight>> sights_of(linalg::LinalgOp op) {
  SmallVector<SmallVector<Sight>> sights(op.getNumLoops());
  for (mlir::OpOperand& operand : op->getOpOperands()) {
    const auto type = llvm::dyn_cast<mlir::RankedTensorType>(operand.get().getType());
    if (!type) continue;
    const mlir::AffineMap map = op.getMatchingIndexingMap(&operand);
    for (unsigned d = 0; d < map.getNumResults(); ++d) {
      const auto loop = llvm::dyn_cast<mlir::AffineDimExpr>(map.getResult(d));
      if (!loop) continue;
      SmallVector<Sight>& seen = sights[loop.getPosition()];
      seen.insert(type.isDynamicDim(d) ? seen.end() : seen.begin(), {&operand, d});
    }
  }
  return sights;
}

// What only chooses among values: an element that it leaves out may lie anywhere.
bool only_chosen(tensor::ExtractOp extract) {
  return !extract->use_empty() &&
         llvm::all_of(extract->getUsers(), [](Operation* user) { return llvm::isa<arith::SelectOp>(user); });
}

// The first and the last index, of loops whose sizes are known. As floats: the numbers of a hostile map wrap round.
struct Span {
  double first, last;
};
std::optional<Span> span_of(mlir::AffineExpr expression, llvm::ArrayRef<int64_t> extents) {
  using Kind = mlir::AffineExprKind;
  if (const auto loop = llvm::dyn_cast<mlir::AffineDimExpr>(expression)) {
    return Span{0, static_cast<double>(extents[loop.getPosition()] - 1)};
  }
  if (const auto number = llvm::dyn_cast<mlir::AffineConstantExpr>(expression)) {
    return Span{static_cast<double>(number.getValue()), static_cast<double>(number.getValue())};
  }
  const auto both = llvm::dyn_cast<mlir::AffineBinaryOpExpr>(expression);
  const auto a = both ? span_of(both.getLHS(), extents) : std::nullopt;
  const auto b = both ? span_of(both.getRHS(), extents) : std::nullopt;
  if (!a || !b) return std::nullopt;
  if (both.getKind() == Kind::Add) return Span{a->first + b->first, a->last + b->last};
  const double by = b->first;
  if (both.getKind() == Kind::Mul)
    return Span{std::min(a->first * by, a->last * by), std::max(a->first * by, a->last * by)};
  if (both.getKind() == Kind::FloorDiv) return Span{std::floor(a->first / by), std::floor(a->last / by)};
  if (both.getKind() == Kind::CeilDiv) return Span{std::ceil(a->first / by), std::ceil(a->last / by)};
  const double turn = std::floor(a->first / by);
  if (turn != std::floor(a->last / by)) return Span{0, by - 1};
  return Span{a->first - turn * by, a->last - turn * by};
}

// At one point of the loops; nothing where the number leaves 64 bits.
std::optional<int64_t> index_at(mlir::AffineExpr expression, llvm::ArrayRef<int64_t> point) {
  using Kind = mlir::AffineExprKind;
  if (const auto loop = llvm::dyn_cast<mlir::AffineDimExpr>(expression)) return point[loop.getPosition()];
  if (const auto number = llvm::dyn_cast<mlir::AffineConstantExpr>(expression)) return number.getValue();
  const auto both = llvm::dyn_cast<mlir::AffineBinaryOpExpr>(expression);
  const auto a = both ? index_at(both.getLHS(), point) : std::nullopt;
  const auto b = both ? index_at(both.getRHS(), point) : std::nullopt;
  int64_t result = 0;
  if (!a || !b) return std::nullopt;
  if (both.getKind() == Kind::Add) return llvm::AddOverflow(*a, *b, result) ? std::nullopt : std::optional(result);
  if (both.getKind() == Kind::Mul) return llvm::MulOverflow(*a, *b, result) ? std::nullopt : std::optional(result);
  if (*b <= 0) return std::nullopt;
  if (both.getKind() == Kind::FloorDiv) return llvm::divideFloorSigned(*a, *b);
  if (both.getKind() == Kind::CeilDiv) return llvm::divideCeilSigned(*a, *b);
  return llvm::mod(*a, *b);
}

// Whether all indices are inside, point by point: what is rounded may take fewer than lie between its first and its last.
bool is_inside_everywhere(mlir::AffineExpr index, llvm::ArrayRef<int64_t> extents, int64_t size) {
  constexpr int64_t kPointsMax = int64_t{1} << 20;
  SmallVector<unsigned> loops;
  int64_t points = 1;
  for (unsigned loop = 0; loop < extents.size(); ++loop) {
    if (!index.isFunctionOfDim(loop)) continue;
    loops.push_back(loop);
    if (llvm::MulOverflow(points, extents[loop], points) || points > kPointsMax) return false;
  }
  SmallVector<int64_t> point(extents.size(), 0);
  for (int64_t number = 0; number < points; ++number) {
    int64_t rest = number;
    for (const unsigned loop : loops) {
      point[loop] = rest % extents[loop];
      rest /= extents[loop];
    }
    const std::optional<int64_t> at = index_at(index, point);
    if (!at || *at < 0 || *at >= size) return false;
  }
  return true;
}

// (x floordiv c) * c + x mod c is x.
mlir::AffineExpr joined(mlir::AffineExpr expression) {
  using Kind = mlir::AffineExprKind;
  const auto both = llvm::dyn_cast<mlir::AffineBinaryOpExpr>(expression);
  if (!both) return expression;
  const mlir::AffineExpr a = joined(both.getLHS()), b = joined(both.getRHS());
  const auto whole_of = [](mlir::AffineExpr multiple, mlir::AffineExpr rest) -> mlir::AffineExpr {
    const auto mod = llvm::dyn_cast<mlir::AffineBinaryOpExpr>(rest);
    if (!mod || mod.getKind() != Kind::Mod) return {};
    return multiple == mod.getLHS().floorDiv(mod.getRHS()) * mod.getRHS() ? mod.getLHS() : mlir::AffineExpr();
  };
  if (both.getKind() == Kind::Add) {
    if (const mlir::AffineExpr whole = whole_of(a, b)) return whole;
    if (const mlir::AffineExpr whole = whole_of(b, a)) return whole;
  }
  return mlir::getAffineBinaryOpExpr(both.getKind(), a, b);
}

}  // namespace

void BoundRules::structured(linalg::LinalgOp op) {
  if (!op.hasPureTensorSemantics()) return;
  SmallVector<OpFoldResult> extents = loops(op);
  if (extents.size() == op.getNumLoops()) body_extracts(op, extents);
}

// Compares what goes along the loops, and says how far they go; nothing of it where that is unknown.
SmallVector<OpFoldResult> BoundRules::loops(linalg::LinalgOp op) {
  const SmallVector<SmallVector<Sight>> sights = sights_of(op);
  for (const SmallVector<Sight>& seen : sights) {
    for (const Sight& other : llvm::ArrayRef(seen).drop_front(seen.empty() ? 0 : 1)) {
      const Sight& first = seen.front();
      bounds_.equal(location_, sizes_.of(other.operand->get(), other.dimension),
                    sizes_.of(first.operand->get(), first.dimension),
                    name_of(op) + ": dimension " + Twine(other.dimension) + " of operand " +
                        Twine(other.operand->getOperandNumber()) + " is $0, and dimension " + Twine(first.dimension) +
                        " of operand " + Twine(first.operand->getOperandNumber()) + " is $1.");
    }
  }
  SmallVector<OpFoldResult> extents;
  for (const SmallVector<Sight>& seen : sights) {
    if (seen.empty()) return {};  // The verifier lets none through.
    extents.push_back(sizes_.of(seen.front().operand->get(), seen.front().dimension));
  }
  for (mlir::OpOperand& operand : op->getOpOperands()) {
    if (!is_tensor(operand.get())) continue;
    const mlir::AffineMap map = op.getMatchingIndexingMap(&operand);
    for (unsigned d = 0; d < map.getNumResults(); ++d) {
      if (!llvm::isa<mlir::AffineDimExpr>(map.getResult(d))) window(op, operand, d, map.getResult(d), extents);
    }
  }
  return extents;
}

Value BoundRules::runs_never(mlir::Location location, llvm::ArrayRef<OpFoldResult> extents) {
  Value never;
  for (const OpFoldResult extent : extents) {
    if (const auto known = mlir::getConstantIntValue(extent); known && *known > 0) continue;
    const Value empty =
        builder_.createOrFold<arith::CmpIOp>(location, arith::CmpIPredicate::eq, value(extent), value(constant(0)));
    never = never ? builder_.createOrFold<arith::OrIOp>(location, never, empty) : empty;
  }
  return never;
}

void BoundRules::bound_loops(Operation* op, const IndexRange& range, llvm::ArrayRef<OpFoldResult> extents) {
  // Sizes have 47 bits where anything has memory.
  if (range.steps <= int64_t{1} << 15) return;
  const OpFoldResult most = constant((int64_t{1} << 62) / range.steps);
  for (const OpFoldResult extent : extents) {
    bounds_.at_most(location_, extent, most,
                    name_of(op) + ": a loop takes $0 long steps; after $1 an index is no number of 64 bits.",
                    runs_never(location_, extents));
  }
}

// Handles a dimension whose index adds several loops, such as those of a convolution's output and kernel.
void BoundRules::window(linalg::LinalgOp op, mlir::OpOperand& operand, unsigned dimension, mlir::AffineExpr index,
                        llvm::ArrayRef<OpFoldResult> extents) {
  index = joined(index);
  const OpFoldResult size = sizes_.of(operand.get(), dimension);
  const unsigned number = operand.getOperandNumber();
  if (is_known(size) && llvm::all_of(extents, is_known)) {
    // The verifier has looked at the corners.
    SmallVector<int64_t> known;
    for (const OpFoldResult extent : extents) known.push_back(*mlir::getConstantIntValue(extent));
    if (llvm::is_contained(known, 0)) return;
    const std::optional<Span> span = span_of(index, known);
    const int64_t length = *mlir::getConstantIntValue(size);
    const bool is_inside = span && span->first >= 0 && span->last < static_cast<double>(length);
    if (!is_inside && !is_inside_everywhere(index, known, length))
      refuse(op, "it reads outside of dimension ", dimension, " of operand ", number, ".");
    return;
  }
  SmallVector<IndexRange> loops;
  for (const OpFoldResult extent : extents) loops.push_back({constant(0), extent, 1});
  const std::optional<IndexRange> range = range_of(index, loops);
  if (!range) {
    return refuse(op, "where it reads dimension ", dimension, " of operand ", number, " has no bounds to compare.");
  }
  bound_loops(op, *range, extents);
  const std::string place =
      " of dimension " + std::to_string(dimension) + " of operand " + std::to_string(number) + ", which has $1.";
  bounds_.at_most(location_, range->past, size, name_of(op) + ": it reads up to, not including, $0" + place,
                  runs_never(location_, extents));
  if (!mlir::isConstantIntValue(range->first, 0)) {
    bounds_.below(location_, range->first, size, name_of(op) + ": it reads from $0" + place,
                  runs_never(location_, extents));
  }
}

std::optional<IndexRange> BoundRules::range_of(mlir::AffineExpr expression, llvm::ArrayRef<IndexRange> dimensions) {
  if (const auto dimension = llvm::dyn_cast<mlir::AffineDimExpr>(expression))
    return dimensions[dimension.getPosition()];
  if (const auto number = llvm::dyn_cast<mlir::AffineConstantExpr>(expression)) {
    return IndexRange{constant(number.getValue()), constant(number.getValue() + 1)};
  }
  const auto both = llvm::dyn_cast<mlir::AffineBinaryOpExpr>(expression);
  if (!both) return std::nullopt;
  const std::optional<IndexRange> a = range_of(both.getLHS(), dimensions);
  if (both.getKind() == mlir::AffineExprKind::Add) {
    const std::optional<IndexRange> b = range_of(both.getRHS(), dimensions);
    if (!a || !b) return std::nullopt;
    int64_t steps = 0;
    if (llvm::AddOverflow(a->steps, b->steps, steps)) return std::nullopt;
    const OpFoldResult past = add_indices(builder_, location_, a->past, b->past);
    return IndexRange{add_indices(builder_, location_, a->first, b->first),
                      subtract_indices(builder_, location_, past, constant(1)), steps};
  }
  const auto factor = llvm::dyn_cast<mlir::AffineConstantExpr>(both.getRHS());
  if (!a || !factor) return std::nullopt;
  if (both.getKind() != mlir::AffineExprKind::Mul) return rounded(both.getKind(), *a, factor.getValue());
  int64_t steps = 0;
  if (llvm::MulOverflow(a->steps, factor.getValue(), steps) || steps == INT64_MIN) return std::nullopt;
  OpFoldResult low = a->first, high = subtract_indices(builder_, location_, a->past, constant(1));
  if (factor.getValue() < 0) std::swap(low, high);
  const OpFoldResult by = constant(factor.getValue());
  return IndexRange{multiply_indices(builder_, location_, low, by),
                    add_indices(builder_, location_, multiply_indices(builder_, location_, high, by), constant(1)),
                    std::abs(steps)};
}

// Divided, or what is left then. Indices go up with what is divided; what is left is below the divisor, and no more than
// the whole.
std::optional<IndexRange> BoundRules::rounded(mlir::AffineExprKind kind, const IndexRange& range, int64_t divisor) {
  if (divisor <= 0) return std::nullopt;
  const Value by = value(constant(divisor));
  if (kind == mlir::AffineExprKind::Mod) {
    OpFoldResult past = constant(divisor);
    if (mlir::isConstantIntValue(range.first, 0)) {
      past = mlir::getAsOpFoldResult(builder_.createOrFold<arith::MinUIOp>(location_, value(range.past), by));
    }
    return IndexRange{constant(0), past, range.steps};
  }
  const auto divide = [&](OpFoldResult number) {
    const Value whole = value(number);
    return mlir::getAsOpFoldResult(kind == mlir::AffineExprKind::FloorDiv
                                       ? builder_.createOrFold<arith::FloorDivSIOp>(location_, whole, by)
                                       : builder_.createOrFold<arith::CeilDivSIOp>(location_, whole, by));
  };
  const OpFoldResult last = divide(subtract_indices(builder_, location_, range.past, constant(1)));
  return IndexRange{divide(range.first), add_indices(builder_, location_, last, constant(1)), range.steps};
}

// Of an index in a body: what is known of it before the body runs.
std::optional<IndexRange> BoundRules::range_of(Value index, Operation* op, llvm::ArrayRef<OpFoldResult> extents) {
  if (const auto known = ranges_.find(index); known != ranges_.end()) return known->second;
  const std::optional<IndexRange> range = compute_range(index, op, extents);
  ranges_[index] = range;
  return range;
}

std::optional<IndexRange> BoundRules::compute_range(Value index, Operation* op, llvm::ArrayRef<OpFoldResult> extents) {
  if (auto loop = index.getDefiningOp<linalg::IndexOp>(); loop && loop->getParentOp() == op) {
    return IndexRange{constant(0), extents[loop.getDim()], 1};
  }
  if (const auto argument = llvm::dyn_cast<mlir::BlockArgument>(index);
      argument && llvm::isa<tensor::GenerateOp>(op) && argument.getOwner()->getParentOp() == op) {
    return IndexRange{constant(0), extents[argument.getArgNumber()], 1};
  }
  if (!index.getType().isIndex()) return std::nullopt;
  if (!op->isAncestor(index.getParentBlock()->getParentOp())) {
    const OpFoldResult number = mlir::getAsOpFoldResult(index);
    return IndexRange{number, add_indices(builder_, location_, number, constant(1))};
  }
  Operation* computed = index.getDefiningOp();
  if (!computed) return std::nullopt;
  if (const auto number = mlir::getConstantIntValue(index)) {
    return IndexRange{constant(*number), constant(*number + 1)};
  }
  if (!llvm::isa<mlir::affine::AffineApplyOp, arith::AddIOp, arith::SubIOp, arith::MulIOp>(computed))
    return std::nullopt;
  SmallVector<IndexRange> operands;
  for (const Value operand : computed->getOperands()) {
    const std::optional<IndexRange> range = range_of(operand, op, extents);
    if (!range) return std::nullopt;
    operands.push_back(*range);
  }
  const mlir::AffineExpr x = builder_.getAffineDimExpr(0), y = builder_.getAffineDimExpr(1);
  if (auto apply = llvm::dyn_cast<mlir::affine::AffineApplyOp>(computed)) {
    const mlir::AffineMap map = apply.getAffineMap();
    SmallVector<mlir::AffineExpr> symbols;
    for (unsigned i = 0; i < map.getNumSymbols(); ++i) {
      symbols.push_back(builder_.getAffineDimExpr(map.getNumDims() + i));
    }
    // What is rounded may take fewer indices than its range has: the kernel's affair.
    bool rounds = false;
    map.walkExprs([&](mlir::AffineExpr part) {
      const mlir::AffineExprKind kind = part.getKind();
      rounds |= kind == mlir::AffineExprKind::FloorDiv || kind == mlir::AffineExprKind::CeilDiv ||
                kind == mlir::AffineExprKind::Mod;
    });
    if (rounds) return std::nullopt;
    return range_of(map.getResult(0).replaceSymbols(symbols), operands);
  }
  if (llvm::isa<arith::AddIOp>(computed)) return range_of(x + y, operands);
  if (llvm::isa<arith::SubIOp>(computed)) return range_of(x - y, operands);
  const auto factor = mlir::getConstantIntValue(computed->getOperand(1));
  return factor ? range_of(x * *factor, operands) : std::nullopt;
}

void BoundRules::body_extracts(Operation* op, llvm::ArrayRef<OpFoldResult> extents) {
  if (llvm::any_of(extents, [](OpFoldResult extent) { return mlir::isConstantIntValue(extent, 0); })) return;
  hold_in_body(op, extents);
  ranges_.clear();
  SmallVector<tensor::ExtractOp> extracts;
  op->walk([&](tensor::ExtractOp extract) { extracts.push_back(extract); });
  for (tensor::ExtractOp extract : extracts) {
    if (!op->isAncestor(extract.getTensor().getParentBlock()->getParentOp())) body_extract(op, extract, extents);
  }
}

// Indices that are known to be inside are marked, so that the kernel doesn't look again. One that stands under a
// condition is the kernel's: when it is reached is not known here.
void BoundRules::body_extract(Operation* op, tensor::ExtractOp extract, llvm::ArrayRef<OpFoldResult> extents) {
  if (codegen::is_part(extract)) return;  // Who made it knew.
  const bool is_conditional = extract->getParentOp() != op, is_chosen = only_chosen(extract);
  SmallVector<bool> inside;
  for (const auto& [d, index] : llvm::enumerate(extract.getIndices())) {
    const OpFoldResult size = sizes_.of(extract.getTensor(), static_cast<unsigned>(d));
    const std::string place = " of dimension " + std::to_string(d) + " of a tensor, which has $1.";
    const std::optional<IndexRange> range = range_of(index, op, extents);
    const bool begins = range && mlir::isConstantIntValue(range->first, 0);
    const auto past = range ? mlir::getConstantIntValue(range->past) : std::nullopt;
    const auto known = mlir::getConstantIntValue(size);
    inside.push_back(begins && (range->past == size || (past && known && *past <= *known)));
    if (inside.back() || is_conditional) continue;
    if (!range || is_chosen) {
      bounds_.below(location_, constant(0), size, name_of(op) + ": its body reads an element" + place,
                    runs_never(location_, extents));
      continue;
    }
    inside.back() = true;
    bound_loops(op, *range, extents);
    const OpFoldResult last = subtract_indices(builder_, location_, range->past, constant(1));
    bounds_.below(location_, range->first, size, name_of(op) + ": its body reads from $0" + place,
                  runs_never(location_, extents));
    bounds_.below(location_, last, size, name_of(op) + ": its body reads up to $0" + place,
                  runs_never(location_, extents));
  }
  codegen::mark_inside(extract, inside);
}

}  // namespace baton::compiler_lite::schedule
