#include "compiler-lite/schedule/row_groups.hpp"

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace baton::compiler_lite::schedule {
namespace {

namespace linalg = mlir::linalg;
using mlir::Operation;
using mlir::Value;

// Rows that a workgroup does at once where they are short (codegen/tile_sizes.cpp).
constexpr int64_t kShortRow = 1024, kShortRows = 8;
// Of a GPU that is to be busy; and steps that take a workgroup about as long as another kernel takes to begin.
constexpr int64_t kEnoughWorkgroups = 128, kLittleWork = 24 * 1024;

// Over its last loop alone, by operations of which parts can be joined.
bool reduces_last_loop(linalg::LinalgOp op) {
  if (op.getNumReductionLoops() != 1 || op.getIteratorTypesArray().back() != mlir::utils::IteratorType::reduction) {
    return false;
  }
  llvm::SmallVector<mlir::BlockArgument> accumulators(op.getRegionOutputArgs());
  for (unsigned i = 0; i < accumulators.size(); ++i) {
    llvm::SmallVector<Operation*> chain;
    if (!mlir::matchReduction(accumulators, i, chain) || chain.size() != 1 || !accumulators[i].hasOneUse() ||
        !mlir::arith::getNeutralElement(chain[0])) {
      return false;
    }
  }
  return true;
}

linalg::GenericOp generic(Operation* op) { return llvm::dyn_cast_or_null<linalg::GenericOp>(op); }

// The loops that a map reads along, one after the other from the first one; nothing for other maps.
std::optional<unsigned> leading_loops(mlir::AffineMap map) {
  for (unsigned i = 0; i < map.getNumResults(); ++i) {
    if (map.getResult(i) != mlir::getAffineDimExpr(i, map.getContext())) return std::nullopt;
  }
  return map.getNumResults();
}

}  // namespace

std::optional<Rows> Rows::of(Operation* root) {
  linalg::GenericOp op = generic(root);
  if (!op || op.getNumLoops() == 0) return std::nullopt;
  llvm::SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  // What is over rows alone shows in what it reads.
  for (Value operand : op->getOperands()) {
    linalg::GenericOp producer = generic(operand.getDefiningOp());
    if (producer && reduces_last_loop(producer) && producer.getNumLoops() == op.getNumLoops() + 1) {
      sizes = producer.getStaticLoopRanges();
    }
  }
  if (mlir::ShapedType::isDynamic(sizes.back()) || sizes.back() < 2) return std::nullopt;
  const Rows rows(static_cast<unsigned>(sizes.size()) - 1, sizes.back());
  return rows.go_along(root) ? std::optional(rows) : std::nullopt;
}

bool Rows::go_along(Operation* each) const {
  linalg::GenericOp op = generic(each);
  if (!op || op.getNumLoops() < loops_ || op.getNumLoops() > loops_ + 1) return false;
  if (op.getNumLoops() == loops_) return op.getNumReductionLoops() == 0;
  if (op.getStaticLoopRanges().back() != length_) return false;
  return op.getNumReductionLoops() == 0 || reduces_last_loop(op);
}

bool Rows::divide(Operation* reduction) const {
  int64_t rows = 1, steps = 1;
  auto op = llvm::cast<linalg::LinalgOp>(reduction);
  for (const auto [number, size] : llvm::enumerate(op.getStaticLoopRanges())) {
    if (mlir::ShapedType::isDynamic(size)) return true;
    (number < loops_ ? rows : steps) *= size;
  }
  return rows / workgroup_rows() >= kEnoughWorkgroups || steps * workgroup_rows() <= kLittleWork;
}

int64_t Rows::workgroup_rows() const { return length_ < kShortRow ? kShortRows : 1; }

bool Rows::reduces(Operation* op) const { return generic(op) && generic(op).getNumReductionLoops() > 0; }

bool Rows::join(Operation* producer, Operation* consumer) const {
  if (!go_along(producer) || !go_along(consumer)) return false;
  linalg::GenericOp reader = generic(consumer), writer = generic(producer);
  const bool makes_elements = writer.getNumLoops() == loops_ + 1 && !reduces(producer);
  const unsigned wanted = makes_elements ? loops_ + 1 : loops_;
  for (mlir::OpOperand& init : writer.getDpsInitsMutable()) {
    if (leading_loops(writer.getMatchingIndexingMap(&init)) != wanted) return false;
  }
  return llvm::all_of(reader->getOpOperands(), [&](mlir::OpOperand& operand) {
    if (operand.get().getDefiningOp() != producer) return true;
    return !reader.isDpsInit(&operand) && leading_loops(reader.getMatchingIndexingMap(&operand)) == wanted;
  });
}

int64_t Rows::kept_bytes(Operation* op) const {
  const bool is_elements = generic(op).getNumLoops() == loops_ + 1 && !reduces(op);
  int64_t bytes = 0;
  for (const Value result : op->getResults()) {
    const mlir::Type element = mlir::getElementTypeOrSelf(result.getType());
    bytes += workgroup_rows() * (is_elements ? length_ : 1) *
             (element.isIntOrFloat() ? element.getIntOrFloatBitWidth() + 7 : 64) / 8;
  }
  return bytes;
}

}  // namespace baton::compiler_lite::schedule
