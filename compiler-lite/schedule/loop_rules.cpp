// BoundRules: operations that go over loops. What is read along one loop has one size; a window lies inside of what it
// slides over; an index that a body computes from loops and the host's numbers lies inside of what it reads.
#include "compiler-lite/codegen/index_checks.hpp"
#include "compiler-lite/schedule/bound_rules.hpp"
#include "compiler-lite/schedule/tensors.hpp"
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

}  // namespace

void BoundRules::structured(linalg::LinalgOp op) {
  if (!op.hasPureTensorSemantics()) return;
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
    if (seen.empty()) return;  // The verifier lets none through.
    extents.push_back(sizes_.of(seen.front().operand->get(), seen.front().dimension));
  }
  for (mlir::OpOperand& operand : op->getOpOperands()) {
    if (!is_tensor(operand.get())) continue;
    const mlir::AffineMap map = op.getMatchingIndexingMap(&operand);
    for (unsigned d = 0; d < map.getNumResults(); ++d) {
      if (!llvm::isa<mlir::AffineDimExpr>(map.getResult(d))) window(op, operand, d, map.getResult(d), extents);
    }
  }
  body_extracts(op, extents);
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

// Several loops move along one dimension, as a convolution's output and kernel do.
void BoundRules::window(linalg::LinalgOp op, mlir::OpOperand& operand, unsigned dimension, mlir::AffineExpr index,
                        llvm::ArrayRef<OpFoldResult> extents) {
  const OpFoldResult size = sizes_.of(operand.get(), dimension);
  if (is_known(size) && llvm::all_of(extents, is_known)) return;  // The verifier has compared them.
  SmallVector<IndexRange> loops;
  for (const OpFoldResult extent : extents) loops.push_back({constant(0), extent});
  const std::optional<IndexRange> range = range_of(index, loops);
  if (!range) return;
  const std::string place = " of dimension " + std::to_string(dimension) + " of operand " +
                            std::to_string(operand.getOperandNumber()) + ", which has $1.";
  bounds_.at_most(location_, range->past, size, name_of(op) + ": it reads up to, not including, $0" + place,
                  runs_never(location_, extents));
  if (!is_known(range->first)) {
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
    const OpFoldResult past = add_indices(builder_, location_, a->past, b->past);
    return IndexRange{add_indices(builder_, location_, a->first, b->first),
                      subtract_indices(builder_, location_, past, constant(1))};
  }
  const auto factor = llvm::dyn_cast<mlir::AffineConstantExpr>(both.getRHS());
  if (!a || !factor || both.getKind() != mlir::AffineExprKind::Mul) return std::nullopt;
  OpFoldResult low = a->first, high = subtract_indices(builder_, location_, a->past, constant(1));
  if (factor.getValue() < 0) std::swap(low, high);
  const OpFoldResult by = constant(factor.getValue());
  return IndexRange{multiply_indices(builder_, location_, low, by),
                    add_indices(builder_, location_, multiply_indices(builder_, location_, high, by), constant(1))};
}

// Of an index in a body: what is known of it before the body runs.
std::optional<IndexRange> BoundRules::range_of(Value index, Operation* op, llvm::ArrayRef<OpFoldResult> extents) {
  if (auto loop = index.getDefiningOp<linalg::IndexOp>()) return IndexRange{constant(0), extents[loop.getDim()]};
  if (const auto argument = llvm::dyn_cast<mlir::BlockArgument>(index);
      argument && llvm::isa<tensor::GenerateOp>(op) && argument.getOwner()->getParentOp() == op) {
    return IndexRange{constant(0), extents[argument.getArgNumber()]};
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
    return range_of(map.getResult(0).replaceSymbols(symbols), operands);
  }
  if (llvm::isa<arith::AddIOp>(computed)) return range_of(x + y, operands);
  if (llvm::isa<arith::SubIOp>(computed)) return range_of(x - y, operands);
  if (!llvm::isa<arith::MulIOp>(computed)) return std::nullopt;
  const auto factor = mlir::getConstantIntValue(computed->getOperand(1));
  return factor ? range_of(x * *factor, operands) : std::nullopt;
}

void BoundRules::body_extracts(Operation* op, llvm::ArrayRef<OpFoldResult> extents) {
  if (llvm::any_of(extents, [](OpFoldResult extent) { return mlir::isConstantIntValue(extent, 0); })) return;
  SmallVector<tensor::ExtractOp> extracts;
  op->walk([&](tensor::ExtractOp extract) { extracts.push_back(extract); });
  for (tensor::ExtractOp extract : extracts) {
    if (!op->isAncestor(extract.getTensor().getParentBlock()->getParentOp())) body_extract(op, extract, extents);
  }
}

// Indices that are known to be inside are marked, so that the kernel doesn't look again. One that stands under a
// condition is the kernel's: when it is reached is not known here.
void BoundRules::body_extract(Operation* op, tensor::ExtractOp extract, llvm::ArrayRef<OpFoldResult> extents) {
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
    const OpFoldResult last = subtract_indices(builder_, location_, range->past, constant(1));
    bounds_.below(location_, range->first, size, name_of(op) + ": its body reads from $0" + place,
                  runs_never(location_, extents));
    bounds_.below(location_, last, size, name_of(op) + ": its body reads up to $0" + place,
                  runs_never(location_, extents));
  }
  codegen::mark_inside(extract, inside);
}

}  // namespace baton::compiler_lite::schedule
