#include "compiler-lite/schedule/attention_groups.hpp"

#include "compiler-lite/dialects/util/dialect.hpp"
#include "compiler-lite/schedule/libraries.hpp"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

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

// Operations of a body that are soon computed again.
constexpr int64_t kSoonComputed = 8;

// Operations that make a large tensor out of small ones, such as a mask out of place numbers: computing them in each
// reader is cheaper than reading them.
bool is_cheaper_computed(linalg::GenericOp op) {
  if (op->getNumResults() != 1 || op.getNumReductionLoops() != 0 || !op.hasPureTensorSemantics()) return false;
  const auto rank = llvm::cast<mlir::RankedTensorType>(op.getResult(0).getType()).getRank();
  const bool grows = llvm::all_of(op.getDpsInputs(), [&](mlir::Value input) {
    const auto type = llvm::dyn_cast<mlir::RankedTensorType>(input.getType());
    return !type || type.getRank() < rank;
  });
  if (!grows || static_cast<int64_t>(op.getBody()->getOperations().size()) > kSoonComputed) return false;
  return op.walk([&](Operation* inner) {
             const bool is_simple = inner == op.getOperation() || inner->getDialect()->getNamespace() == "arith" ||
                                    llvm::isa<linalg::IndexOp, linalg::YieldOp>(inner);
             return is_simple ? mlir::WalkResult::advance() : mlir::WalkResult::interrupt();
           }).wasInterrupted() == false;
}

// Upstream's fusion keeps what it fused as a result where the producer alone could not do without.
void drop_unused_results(Operation* op) {
  mlir::RewritePatternSet patterns(op->getContext());
  linalg::populateEraseUnusedOperandsAndResultsPatterns(patterns);
  (void)mlir::applyOpPatternsAndFold(op, std::move(patterns));
}

// Attention computes its mask itself. Gives whether anything changed.
bool compute_mask(const Attention& attention) {
  linalg::GenericOp masked = attention.masked;
  if (!masked) return false;
  for (mlir::OpOperand* operand : masked.getDpsInputOperands()) {
    auto mask = operand->get().getDefiningOp<linalg::GenericOp>();
    if (!mask || mask->getBlock() != masked->getBlock() || !is_cheaper_computed(mask)) continue;
    mlir::IRRewriter rewriter(masked->getContext());
    rewriter.setInsertionPoint(masked);
    Operation* const own = rewriter.clone(*mask);
    operand->set(own->getResult(0));
    mlir::FailureOr<linalg::ElementwiseOpFusionResult> fused = linalg::fuseElementwiseOps(rewriter, operand);
    if (mlir::failed(fused)) {
      operand->set(mask->getResult(0));
      rewriter.eraseOp(own);
      continue;
    }
    for (const auto& [before, after] : fused->replacements) rewriter.replaceAllUsesWith(before, after);
    rewriter.eraseOp(masked);
    rewriter.eraseOp(own);
    if (mask->use_empty()) rewriter.eraseOp(mask);
    drop_unused_results(fused->fusedOp);
    return true;
  }
  return false;
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
    llvm::SmallVector<linalg::LinalgOp> attentions;
    for (linalg::LinalgOp op : llvm::reverse(operations)) {
      if (taken.contains(op)) continue;
      const std::optional<Attention> found = find(op);
      if (!found || !takes(*found)) continue;
      for (linalg::LinalgOp each : found->operations()) taken.insert(each);
      attentions.push_back(op);
      op->setAttr(codegen::kAttention, mlir::UnitAttr::get(op->getContext()));
    }
    for (linalg::LinalgOp op : attentions) {
      for (std::optional<Attention> found = find(op); found && compute_mask(*found);) found = find(op);
    }
  }
}

std::optional<Attention> marked_attention(Operation* root) {
  return root->hasAttr(codegen::kAttention) ? find(llvm::cast<linalg::LinalgOp>(root)) : std::nullopt;
}

llvm::SmallVector<Operation*> attention_of(Operation* root) {
  const std::optional<Attention> found = marked_attention(root);
  if (!found) return {};
  llvm::SmallVector<Operation*> operations;
  for (linalg::LinalgOp op : found->operations()) {
    if (joins_by_mark(op, op)) return {};
    operations.insert(operations.begin(), op);
  }
  return operations;
}

}  // namespace baton::compiler_lite::schedule
