#include "compiler-lite/schedule/split_reductions.hpp"

#include "compiler-lite/codegen/extreme.hpp"
#include "compiler-lite/dialects/util/dialect.hpp"
#include "compiler-lite/schedule/divided_reduction.hpp"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/IR/PatternMatch.h"

namespace baton::compiler_lite::schedule {
namespace {

namespace linalg = mlir::linalg;
using llvm::SmallVector;
using mlir::failed;

constexpr int64_t kResultsMax = 16;  // More give enough workgroups by themselves.
constexpr int64_t kPartsMax = 1024;  // Several for each multiprocessor of the largest GPU.
constexpr int64_t kPartsMin = 8;     // Fewer are not worth a second dispatch.
constexpr int64_t kPartLengthMin = 4096;

// How many parts of one size `length` elements make; 0: none that is worth it.
int64_t parts_of(int64_t length) {
  for (int64_t parts = std::min(kPartsMax, length / kPartLengthMin); parts >= kPartsMin; --parts) {
    if (length % parts == 0) return parts;
  }
  return 0;
}

// Of an operation whose sizes are all known.
int64_t parts_of(linalg::LinalgOp op) {
  SmallVector<unsigned> reduced;
  op.getReductionDims(reduced);
  if (reduced.size() != 1) return 0;
  int64_t results = 1;
  const SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  for (unsigned loop = 0; loop < ranges.size(); ++loop) {
    if (loop == reduced[0]) continue;
    if (ranges[loop] > kResultsMax) return 0;
    results *= ranges[loop];
  }
  return results <= kResultsMax ? parts_of(ranges[reduced[0]]) : 0;
}

// A sum over all of a matrix is one over a row of all its elements, where they lie one after the other.
linalg::GenericOp as_one_loop(linalg::GenericOp op, mlir::IRRewriter& rewriter) {
  const unsigned loops = op.getNumLoops();
  if (loops < 2 || op.getNumReductionLoops() != loops) return op;
  mlir::ReassociationIndices all;
  for (unsigned loop = 0; loop < loops; ++loop) all.push_back(loop);
  for (const mlir::AffineMap map : op.getIndexingMapsArray()) {
    const bool is_whole = map.isIdentity() || map.getNumResults() == 0;
    if (!is_whole) return op;
  }
  if (op.hasIndexSemantics()) return op;
  rewriter.setInsertionPoint(op);
  mlir::FailureOr<linalg::CollapseResult> collapsed = linalg::collapseOpIterationDims(op, {all}, rewriter);
  if (failed(collapsed)) return op;
  rewriter.replaceOp(op, collapsed->results);
  return llvm::cast<linalg::GenericOp>(collapsed->collapsedOp.getOperation());
}

// The same for an extreme and its place, whose parts are joined by another body than the one that makes them.
void split_extreme(mlir::IRRewriter& rewriter, linalg::GenericOp op, const codegen::Extreme& extreme, int64_t parts) {
  SmallVector<unsigned> reduced;
  op.getReductionDims(reduced);
  SmallVector<mlir::Value> begin;
  for (const mlir::Value init : op.getDpsInits()) {
    if (auto fill = init.getDefiningOp<linalg::FillOp>()) begin.push_back(fill.value());
  }
  if (begin.size() != op.getDpsInits().size() || !DividedReduction::can_divide(op, reduced[0])) return;
  DividedReduction divided(rewriter, op, reduced[0], parts);
  linalg::GenericOp joined = divided.join_parts(
      divided.make_parts(begin), [&](mlir::OpBuilder& body, mlir::ValueRange part, mlir::ValueRange so_far) {
        return codegen::join_extremes(body, extreme, so_far, part);
      });
  rewriter.replaceOp(op, joined.getResults());
}

bool has_static_shape(linalg::GenericOp op) {
  return llvm::none_of(op.getStaticLoopRanges(), mlir::ShapedType::isDynamic);
}

}  // namespace

mlir::LogicalResult split_reductions(mlir::ModuleOp module) {
  SmallVector<linalg::GenericOp> reductions;
  module.walk([&](linalg::GenericOp op) {
    const bool fits = op->getParentOfType<util::FuncOp>() && op.hasPureTensorSemantics() &&
                      op.getNumReductionLoops() != 0 && has_static_shape(op);
    if (fits) reductions.push_back(op);
  });
  mlir::IRRewriter rewriter(module.getContext());
  for (linalg::GenericOp op : reductions) {
    op = as_one_loop(op, rewriter);
    const int64_t parts = parts_of(op);
    if (parts == 0) continue;
    if (const std::optional<codegen::Extreme> extreme = codegen::extreme_of(op)) {
      split_extreme(rewriter, op, *extreme, parts);
      continue;
    }
    if (op.getNumDpsInits() != 1 || op.hasIndexSemantics()) continue;
    rewriter.setInsertionPoint(op);
    const auto control = [parts](linalg::LinalgOp) { return linalg::SplitReductionOptions{parts, 0, false}; };
    // What combines by an operation without a neutral element stays as it is.
    static_cast<void>(linalg::splitReduction(rewriter, op, control));
  }
  return mlir::success();
}

}  // namespace baton::compiler_lite::schedule
