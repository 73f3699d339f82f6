#include "compiler-lite/schedule/joined_loops.hpp"

#include "compiler-lite/codegen/attention.hpp"
#include "compiler-lite/codegen/product.hpp"
#include "compiler-lite/dialects/util/dialect.hpp"
#include "compiler-lite/schedule/libraries.hpp"
#include "llvm/ADT/SmallPtrSet.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"

namespace baton::compiler_lite::schedule {
namespace {

namespace linalg = mlir::linalg;
namespace tensor = mlir::tensor;
using llvm::SmallVector;
using mlir::Value;
using Groups = SmallVector<mlir::ReassociationIndices>;

// Loops that are longer, or of whole tiles, leave little of a tile empty.
constexpr int64_t kLongLoop = 256, kTile = 64;

// The loops that `map` goes along one after the other, and that are all among `loops`: each run of two or more.
Groups runs_of(mlir::AffineMap map, llvm::ArrayRef<unsigned> loops) {
  Groups runs;
  mlir::ReassociationIndices run;
  const auto end = [&] {
    if (run.size() > 1) runs.push_back(run);
    run.clear();
  };
  for (const mlir::AffineExpr result : map.getResults()) {
    const auto loop = llvm::dyn_cast<mlir::AffineDimExpr>(result);
    if (loop && llvm::is_contained(loops, loop.getPosition())) {
      run.push_back(loop.getPosition());
    } else {
      end();
    }
  }
  end();
  return runs;
}

// Runs of loops that may be one, of each kind without a loop that fills tiles.
Groups joinable_loops(linalg::GenericOp op, const codegen::ProductForm& form) {
  const SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  SmallVector<unsigned> rows = form.other_rows, columns = form.other_columns;
  if (form.rows != codegen::ProductForm::kNone) rows.push_back(form.rows);
  columns.push_back(form.columns);
  Groups joined;
  for (const auto& [loops, operand] : {std::pair(llvm::ArrayRef(rows), 2u), std::pair(llvm::ArrayRef(columns), 2u),
                                       std::pair(llvm::ArrayRef(form.steps), form.a)}) {
    const bool fills_tiles =
        llvm::any_of(loops, [&](unsigned loop) { return sizes[loop] >= kLongLoop || sizes[loop] % kTile == 0; });
    if (fills_tiles) continue;
    for (const mlir::ReassociationIndices& run : runs_of(op.getIndexingMapsArray()[operand], loops)) {
      if (continue_each_other(op, run)) joined.push_back(run);
    }
  }
  return joined;
}

class Joiner {
 public:
  explicit Joiner(mlir::MLIRContext* context) : rewriter_(context) {}

  void join(linalg::GenericOp op) {
    const std::optional<codegen::ProductForm> form = codegen::product_form(op);
    if (!form || llvm::any_of(op.getStaticLoopRanges(), mlir::ShapedType::isDynamic)) return;
    const Groups groups = joinable_loops(op, *form);
    if (!groups.empty()) collapse(op, groups);
  }

 private:
  bool collapse(linalg::GenericOp op, const Groups& groups) {
    rewriter_.setInsertionPoint(op);
    mlir::FailureOr<linalg::CollapseResult> made = linalg::collapseOpIterationDims(op, groups, rewriter_);
    if (mlir::failed(made)) return false;
    rewriter_.replaceOp(op, made->results);
    for (const Value result : made->results) {
      if (auto expanded = result.getDefiningOp<tensor::ExpandShapeOp>()) follow(expanded);
    }
    return true;
  }

  // An operation that reads the result element by element goes along the joined loops. Each is looked for anew: one that reads another
  // reader's result, too, went with that.
  void follow(tensor::ExpandShapeOp expanded) {
    while (collapse_a_reader(expanded)) {
    }
  }

  bool collapse_a_reader(tensor::ExpandShapeOp expanded) {
    for (mlir::Operation* user : expanded->getUsers()) {
      auto reader = llvm::dyn_cast<linalg::GenericOp>(user);
      if (!reader) continue;
      if (const std::optional<Groups> groups = groups_of(reader, expanded)) return collapse(reader, *groups);
    }
    return false;
  }

  // The loops of the reader that go along the dimensions that were made of one; nothing where they can't be joined.
  std::optional<Groups> groups_of(linalg::GenericOp reader, tensor::ExpandShapeOp expanded) {
    const bool is_elementwise = reader.getNumParallelLoops() == reader.getNumLoops() &&
                                reader.hasPureTensorSemantics() && !reader.hasIndexSemantics() &&
                                !is_library_work(reader);
    if (!is_elementwise) return std::nullopt;
    Groups groups;
    for (mlir::OpOperand& operand : reader->getOpOperands()) {
      if (operand.get() != expanded.getResult()) continue;
      const mlir::AffineMap map = reader.getMatchingIndexingMap(&operand);
      if (!map.isProjectedPermutation()) return std::nullopt;
      for (const mlir::ReassociationIndices& dimensions : expanded.getReassociationIndices()) {
        if (dimensions.size() < 2) continue;
        mlir::ReassociationIndices run;
        for (const int64_t d : dimensions) run.push_back(map.getDimPosition(static_cast<unsigned>(d)));
        if (!continue_each_other(reader, run)) return std::nullopt;
        groups.push_back(run);
      }
      break;
    }
    return groups.empty() ? std::nullopt : std::optional(groups);
  }

  mlir::IRRewriter rewriter_;
};

// Products that are part of attention.
llvm::SmallPtrSet<mlir::Operation*, 8> attending(mlir::ModuleOp module) {
  llvm::SmallPtrSet<mlir::Operation*, 8> found;
  module.walk([&](linalg::LinalgOp root) {
    const auto attention =
        codegen::find_attention(root, [](Value value) { return value.getDefiningOp<linalg::LinalgOp>(); });
    if (!attention) return;
    linalg::LinalgOp scores = attention->scores, mixed = attention->mixed;
    found.insert(scores);
    found.insert(mixed);
  });
  return found;
}

}  // namespace

bool continue_each_other(linalg::LinalgOp op, const mlir::ReassociationIndices& run) {
  return llvm::all_of(op.getIndexingMapsArray(), [&](mlir::AffineMap map) {
    return map.isProjectedPermutation() && linalg::isDimSequencePreserved(map, run);
  });
}

mlir::LogicalResult join_product_loops(mlir::ModuleOp module) {
  const llvm::SmallPtrSet<mlir::Operation*, 8> left = attending(module);
  SmallVector<linalg::GenericOp> products;
  module.walk([&](linalg::GenericOp op) {
    const bool is_ours = op->getParentOfType<util::FuncOp>() && op.hasPureTensorSemantics() && !is_library_work(op);
    if (is_ours && !left.contains(op) && codegen::product_form(op)) products.push_back(op);
  });
  Joiner joiner(module.getContext());
  for (linalg::GenericOp op : products) joiner.join(op);
  return mlir::success();
}

}  // namespace baton::compiler_lite::schedule
