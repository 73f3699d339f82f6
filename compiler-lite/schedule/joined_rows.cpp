#include "compiler-lite/schedule/joined_rows.hpp"

#include "compiler-lite/codegen/product.hpp"
#include "compiler-lite/dialects/util/dialect.hpp"
#include "compiler-lite/schedule/joined_loops.hpp"
#include "compiler-lite/schedule/libraries.hpp"
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
using Run = mlir::ReassociationIndices;

// A last loop of so many elements is long by itself.
constexpr int64_t kLongLoop = 256;

bool is_simple(linalg::GenericOp op) {
  return op && op->getParentOfType<util::FuncOp>() && op.hasPureTensorSemantics() && !op.hasIndexSemantics() &&
         !is_library_work(op) && !codegen::is_product(op) &&
         llvm::none_of(op.getStaticLoopRanges(), mlir::ShapedType::isDynamic) &&
         llvm::all_of(op.getIndexingMapsArray(), [](mlir::AffineMap map) { return map.isProjectedPermutation(); });
}

bool is_elementwise(linalg::GenericOp op) { return op.getNumReductionLoops() == 0; }

// The loops of `op` that go along these dimensions of `operand`, where they may be one.
std::optional<Run> loops_along(linalg::GenericOp op, mlir::AffineMap map, const Run& dimensions) {
  Run run;
  for (const int64_t dimension : dimensions) run.push_back(map.getDimPosition(static_cast<unsigned>(dimension)));
  const auto kinds = op.getIteratorTypesArray();
  const bool are_alike = llvm::all_of(
      run, [&](int64_t loop) { return kinds[static_cast<size_t>(loop)] == kinds[static_cast<size_t>(run.front())]; });
  return are_alike && continue_each_other(op, run) ? std::optional(run) : std::nullopt;
}

// The last dimensions of the first operand, where all of these are reduced and the last of them is short.
std::optional<Run> reduced_run(linalg::GenericOp op) {
  const mlir::AffineMap map = op.getIndexingMapsArray().front();
  const auto kinds = op.getIteratorTypesArray();
  Run run;
  for (unsigned i = map.getNumResults(); i-- > 0;) {
    const unsigned loop = map.getDimPosition(i);
    if (kinds[loop] != mlir::utils::IteratorType::reduction) break;
    run.insert(run.begin(), loop);
  }
  while (run.size() >= 2 && !continue_each_other(op, run)) run.erase(run.begin());
  if (run.size() < 2 || op.getStaticLoopRanges()[static_cast<size_t>(run.back())] >= kLongLoop) return std::nullopt;
  return run;
}

class Joiner {
 public:
  explicit Joiner(mlir::MLIRContext* context) : rewriter_(context) {}

  // Whether it could.
  bool join(linalg::GenericOp op, const Run& run) {
    rewriter_.setInsertionPoint(op);
    mlir::FailureOr<linalg::CollapseResult> made = linalg::collapseOpIterationDims(op, {run}, rewriter_);
    if (mlir::failed(made)) return false;
    rewriter_.replaceOp(op, made->results);
    for (const Value result : made->results) {
      if (auto expanded = result.getDefiningOp<tensor::ExpandShapeOp>()) join_readers(expanded);
    }
    for (const Value operand : SmallVector<Value>(made->collapsedOp->getOperands())) {
      auto collapsed = operand.getDefiningOp<tensor::CollapseShapeOp>();
      if (!collapsed) continue;
      join_writer(collapsed);
      join_readers_of_both(collapsed, made->collapsedOp);
    }
    return true;
  }

 private:
  static Run dimensions_of(llvm::ArrayRef<Run> reassociation) {
    for (const Run& dimensions : reassociation) {
      if (dimensions.size() > 1) return dimensions;
    }
    return {};
  }

  // Each is looked for anew: one that is joined brings others with it.
  void join_readers(tensor::ExpandShapeOp expanded) {
    while (join_a_reader(expanded)) {
    }
  }

  bool join_a_reader(tensor::ExpandShapeOp expanded) {
    const Run dimensions = dimensions_of(expanded.getReassociationIndices());
    for (mlir::OpOperand& use : expanded->getUses()) {
      auto reader = llvm::dyn_cast<linalg::GenericOp>(use.getOwner());
      if (!is_simple(reader) || has_other_writer(reader)) continue;
      const auto run = loops_along(reader, reader.getMatchingIndexingMap(&use), dimensions);
      if (run && join(reader, *run)) return true;
    }
    return false;
  }

  // What reads `reduced`, a row's sum for one, together with the row.
  void join_readers_of_both(tensor::CollapseShapeOp collapsed, mlir::Operation* reduced) {
    const Run dimensions = dimensions_of(collapsed.getReassociationIndices());
    for (mlir::OpOperand& use : llvm::make_early_inc_range(collapsed.getSrc().getUses())) {
      auto reader = llvm::dyn_cast<linalg::GenericOp>(use.getOwner());
      const auto reads_it = [&](Value value) { return value.getDefiningOp() == reduced; };
      if (!is_simple(reader) || !is_elementwise(reader) || !llvm::any_of(reader.getDpsInputs(), reads_it)) continue;
      if (has_other_writer(reader)) continue;
      const auto run = loops_along(reader, reader.getMatchingIndexingMap(&use), dimensions);
      if (run && join(reader, *run)) return join_readers_of_both(collapsed, reduced);
    }
  }

  void join_writer(tensor::CollapseShapeOp collapsed) {
    auto result = llvm::dyn_cast<mlir::OpResult>(collapsed.getSrc());
    auto writer = result ? llvm::dyn_cast<linalg::GenericOp>(result.getOwner()) : linalg::GenericOp();
    if (!is_simple(writer) || !is_elementwise(writer) || has_other_writer(writer)) return;
    const Run dimensions = dimensions_of(collapsed.getReassociationIndices());
    if (const auto run = loops_along(writer, writer.getIndexingMapMatchingResult(result), dimensions))
      join(writer, *run);
  }

  // What is computed element by element from a product belongs to its kernel, which has the loops that it has.
  static bool has_other_writer(linalg::GenericOp op) {
    return llvm::any_of(op.getDpsInputs(), [](Value value) {
      auto writer = value.getDefiningOp<linalg::LinalgOp>();
      return writer && (codegen::is_product(writer) || !llvm::isa<linalg::GenericOp>(writer.getOperation()));
    });
  }

  mlir::IRRewriter rewriter_;
};

}  // namespace

mlir::LogicalResult join_reduced_loops(mlir::ModuleOp module) {
  Joiner joiner(module.getContext());
  // Each is looked for anew, as one that is joined takes others along.
  const auto join_one = [&] {
    return module.walk([&](linalg::GenericOp op) {
      if (!is_simple(op) || is_elementwise(op) || op.getNumDpsInputs() == 0) return mlir::WalkResult::advance();
      const std::optional<Run> run = reduced_run(op);
      return run && joiner.join(op, *run) ? mlir::WalkResult::interrupt() : mlir::WalkResult::advance();
    });
  };
  while (join_one().wasInterrupted()) {
  }
  return mlir::success();
}

}  // namespace baton::compiler_lite::schedule
