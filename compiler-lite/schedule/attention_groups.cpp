#include "compiler-lite/schedule/attention_groups.hpp"

#include "compiler-lite/dialects/util/dialect.hpp"
#include "compiler-lite/schedule/libraries.hpp"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace baton::compiler_lite::schedule {
namespace {

namespace linalg = mlir::linalg;
using codegen::Attention;
using mlir::Operation;

std::optional<Attention> find(linalg::LinalgOp root) {
  std::optional<Attention> found =
      codegen::find_attention(root, [](mlir::Value value) { return value.getDefiningOp<linalg::LinalgOp>(); });
  if (!found) return std::nullopt;
  const llvm::SmallVector<linalg::LinalgOp> operations = found->operations();
  const auto is_inside = [&](Operation* op) {
    return llvm::any_of(operations, [&](linalg::LinalgOp each) { return each.getOperation() == op; });
  };
  for (linalg::LinalgOp op : operations) {
    if (op->getBlock() != root->getBlock() || op->getNumResults() != 1) return std::nullopt;
    if (op.getOperation() == root.getOperation()) continue;
    for (Operation* user : op->getUsers()) {
      if (!is_inside(user) && !llvm::isa<mlir::tensor::DimOp>(user)) return std::nullopt;
    }
  }
  return found;
}

}  // namespace

void mark_attention(mlir::ModuleOp module, llvm::function_ref<bool(const Attention&)> takes) {
  for (auto function : module.getOps<util::FuncOp>()) {
    llvm::SmallVector<linalg::LinalgOp> operations;
    function.walk([&](linalg::LinalgOp op) {
      if (op.hasPureTensorSemantics()) operations.push_back(op);
    });
    // Last operations first: what follows the second product element by element belongs to it.
    llvm::DenseSet<Operation*> taken;
    for (linalg::LinalgOp op : llvm::reverse(operations)) {
      if (taken.contains(op)) continue;
      const std::optional<Attention> found = find(op);
      if (!found || !takes(*found)) continue;
      for (linalg::LinalgOp each : found->operations()) taken.insert(each);
      op->setAttr(codegen::kAttention, mlir::UnitAttr::get(op->getContext()));
    }
  }
}

llvm::SmallVector<Operation*> attention_of(Operation* root) {
  if (!root->hasAttr(codegen::kAttention)) return {};
  const std::optional<Attention> found = find(llvm::cast<linalg::LinalgOp>(root));
  if (!found) return {};
  llvm::SmallVector<Operation*> operations;
  for (linalg::LinalgOp op : found->operations()) {
    if (joins_by_mark(op, op)) return {};
    operations.insert(operations.begin(), op);
  }
  return operations;
}

}  // namespace baton::compiler_lite::schedule
