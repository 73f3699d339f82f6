#include "compiler-lite/codegen/gpu/row_plan.hpp"

#include "compiler-lite/codegen/gpu/accesses.hpp"
#include "compiler-lite/codegen/gpu/combine.hpp"
#include "compiler-lite/codegen/interface_ops.hpp"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

namespace baton::compiler_lite::codegen::gpu {
namespace {

namespace linalg = mlir::linalg;
using mlir::ShapedType;
using mlir::Value;

bool same_size(int64_t a, int64_t b) { return a == b || ShapedType::isDynamic(a) || ShapedType::isDynamic(b); }

class Planner {
 public:
  explicit Planner(mlir::func::FuncOp kernel) : kernel_(kernel) {}

  std::optional<RowPlan> plan() {
    if (!kernel_.getBody().hasOneBlock() || !collect() || !find_shape()) return std::nullopt;
    for (RowOp& op : plan_.ops) {
      if (!classify(op)) return std::nullopt;
    }
    if (!note_written() || !check_reads()) return std::nullopt;
    choose_lanes();
    return plan_;
  }

 private:
  // Nothing but loops over elements, and what has no effects.
  bool collect() {
    for (mlir::Operation& op : kernel_.getBody().front()) {
      if (auto linalg_op = llvm::dyn_cast<linalg::LinalgOp>(op)) {
        if (!llvm::isa<linalg::GenericOp, linalg::FillOp>(op)) return false;
        plan_.ops.push_back({linalg_op, false, {}});
      } else if (!mlir::isMemoryEffectFree(&op) &&
                 !llvm::isa<mlir::memref::AllocOp, mlir::memref::DeallocOp, mlir::func::ReturnOp>(op) &&
                 op.getName().getDialectNamespace() != "hal") {
        return false;
      }
    }
    return true;
  }

  // The rows are what the first operation that reduces goes along.
  bool find_shape() {
    const auto reduces = [](const RowOp& each) { return linalg::LinalgOp(each.op).getNumReductionLoops() > 0; };
    const auto* first = llvm::find_if(plan_.ops, reduces);
    if (first == plan_.ops.end()) return false;
    plan_.reducing = static_cast<size_t>(first - plan_.ops.begin());
    sizes_ = linalg::LinalgOp(first->op).getStaticLoopRanges();
    plan_.length = sizes_.back();
    sizes_.pop_back();
    plan_.row_count = 1;
    for (const int64_t size : sizes_) {
      if (ShapedType::isDynamic(size) || plan_.row_count < 0) {
        plan_.row_count = -1;
      } else {
        plan_.row_count *= size;
      }
    }
    return !ShapedType::isDynamic(plan_.length) && plan_.length > 1;
  }

  bool classify(RowOp& each) {
    linalg::LinalgOp op = each.op;
    const llvm::SmallVector<int64_t> ranges = op.getStaticLoopRanges();
    const size_t rank = sizes_.size();
    if (ranges.size() < rank || ranges.size() > rank + 1) return false;
    for (size_t i = 0; i < rank; ++i) {
      if (!same_size(ranges[i], sizes_[i])) return false;
    }
    each.is_along_row = ranges.size() == rank + 1 && ranges.back() == plan_.length;
    if (!each.is_along_row && ranges.size() == rank + 1 && ranges.back() != 1) return false;
    if (op.getNumReductionLoops() > 0) {
      auto generic = llvm::dyn_cast<linalg::GenericOp>(op.getOperation());
      const bool last_reduces = op.getIteratorTypesArray().back() == mlir::utils::IteratorType::reduction;
      if (!generic || !each.is_along_row || op.getNumReductionLoops() != 1 || !last_reduces ||
          combiners_of(generic).empty()) {
        return false;
      }
    }
    for (mlir::OpOperand& operand : op->getOpOperands()) each.uses.push_back(use_of(op, operand, each.is_along_row));
    // A product of matrices goes along rows of neither.
    return !each.is_along_row || llvm::is_contained(each.uses, RowUse::kElements);
  }

  RowUse use_of(linalg::LinalgOp op, mlir::OpOperand& operand, bool is_along_row) {
    const auto type = llvm::dyn_cast<mlir::MemRefType>(operand.get().getType());
    const mlir::AffineMap map = op.getMatchingIndexingMap(&operand);
    if (!type || !type.getElementType().isIntOrFloat()) return RowUse::kOther;
    const auto rank = static_cast<unsigned>(sizes_.size());
    for (unsigned i = 0; i < map.getNumResults(); ++i) {
      const mlir::AffineExpr own =
          i <= rank && i < map.getNumDims() ? mlir::getAffineDimExpr(i, map.getContext()) : mlir::AffineExpr();
      const auto number = llvm::dyn_cast<mlir::AffineConstantExpr>(map.getResult(i));
      const bool is_nothing = i >= rank && number && number.getValue() == 0;
      if (map.getResult(i) != own && !is_nothing) return RowUse::kOther;
    }
    if (map.getNumResults() < rank) return RowUse::kOther;
    if (!is_along_row) return RowUse::kRow;
    if (map.isIdentity()) return has_unit_stride(type) ? RowUse::kElements : RowUse::kOther;
    return map.isFunctionOfDim(rank) ? RowUse::kOther : RowUse::kRow;
  }

  static bool has_unit_stride(mlir::MemRefType type) {
    llvm::SmallVector<int64_t> strides;
    int64_t offset = 0;
    return mlir::succeeded(mlir::getStridesAndOffset(type, strides, offset)) && strides.back() == 1;
  }

  // What is written is written through one view, always in the same way.
  bool note_written() {
    for (RowOp& each : plan_.ops) {
      for (mlir::OpOperand& init : each.op.getDpsInitsMutable()) {
        const RowUse use = each.uses[init.getOperandNumber()];
        const bool reduces = each.op.getNumReductionLoops() > 0;
        if (use == RowUse::kOther || (use == RowUse::kRow) != (reduces || !each.is_along_row)) return false;
        const auto [known, is_new] = written_.try_emplace(base_of(init.get()), init.get(), use);
        if (!is_new && known->second != std::pair(init.get(), use)) return false;
        if (is_new) plan_.written.push_back(init.get());
      }
    }
    return true;
  }

  bool check_reads() {
    for (RowOp& each : plan_.ops) {
      for (mlir::OpOperand* input : each.op.getDpsInputOperands()) {
        const auto known = written_.find(base_of(input->get()));
        if (known == written_.end()) continue;
        if (known->second != std::pair(input->get(), each.uses[input->getOperandNumber()])) return false;
      }
      // A body that reads memory by itself.
      const bool reads =
          each.op->walk([](mlir::memref::LoadOp) { return mlir::WalkResult::interrupt(); }).wasInterrupted();
      if (reads) return false;
    }
    return true;
  }

  void choose_lanes() {
    int64_t widest = 1;
    for (RowOp& each : plan_.ops) {
      for (mlir::OpOperand& operand : each.op->getOpOperands()) {
        if (each.uses[operand.getOperandNumber()] != RowUse::kElements) continue;
        widest = std::max(widest, stored_bytes(mlir::getElementTypeOrSelf(operand.get().getType())));
      }
    }
    plan_.lanes = kAccessBytes / widest;
    while (plan_.length % plan_.lanes != 0) plan_.lanes /= 2;
  }

  mlir::func::FuncOp kernel_;
  RowPlan plan_;
  llvm::SmallVector<int64_t> sizes_;                         // Of the loops over rows.
  llvm::DenseMap<Value, std::pair<Value, RowUse>> written_;  // By what they are views of.
};

}  // namespace

Value base_of(Value memory) {
  while (auto view = memory.getDefiningOp<mlir::ViewLikeOpInterface>()) memory = view.getViewSource();
  mlir::Operation* subspan = memory.getDefiningOp();
  if (!subspan || !is_operation(subspan, kBindingSubspan)) return memory;
  // The same binding may be asked for more than once.
  const auto binding = view_subspan(subspan).binding;
  for (mlir::Operation& other : subspan->getParentOfType<mlir::func::FuncOp>().getBody().front()) {
    if (is_operation(&other, kBindingSubspan) && view_subspan(&other).binding == binding) return other.getResult(0);
  }
  return memory;
}

std::optional<RowPlan> plan_rows(mlir::func::FuncOp kernel) { return Planner(kernel).plan(); }

}  // namespace baton::compiler_lite::codegen::gpu
