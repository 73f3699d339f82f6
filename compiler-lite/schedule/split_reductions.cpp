#include "compiler-lite/schedule/split_reductions.hpp"

#include "compiler-lite/codegen/combiners.hpp"
#include "compiler-lite/codegen/extreme.hpp"
#include "compiler-lite/codegen/product.hpp"
#include "compiler-lite/codegen/tile_sizes.hpp"
#include "compiler-lite/codegen/widen_sums.hpp"
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

constexpr int64_t kFewResults = 16;  // Of more a workgroup has one or more for itself.
constexpr int64_t kPartsMax = 1024;  // Several for each multiprocessor of the largest GPU.
constexpr int64_t kPartsMin = 8;     // Fewer are not worth a second dispatch.
constexpr int64_t kPartLengthMin = 4096;
// The same of more results that are no work for all of a GPU: how many workgroups are wanted, and how many do; in how many
// steps a workgroup reduces columns, which it takes side by side; and how long rows are, which kernels of rows don't keep.
constexpr int64_t kGroupsWanted = 264, kGroupsEnough = 132, kFewerPartsMin = 4;
constexpr int64_t kColumnsOfGroup = 16, kColumnLengthMin = 256, kRowLengthMin = 64 * 1024;
constexpr int64_t kElementsMin = 1 << 20;  // Fewer are done before a second dispatch begins.

// The largest divisor of `length` that is at most so large.
int64_t divisor_of(int64_t length, int64_t most) {
  int64_t parts = std::min(length, most);
  while (parts > 1 && length % parts != 0) --parts;
  return parts;
}

// A loop that is divided, and into how many parts of one size; 1: it isn't worth it.
struct Parts {
  unsigned loop = 0;
  int64_t count = 1;
};

// Of an operation whose sizes are all known.
Parts parts_of(linalg::LinalgOp op, Products products) {
  SmallVector<unsigned> reduced;
  op.getReductionDims(reduced);
  const SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  int64_t results = 1, length = 1;
  for (unsigned loop = 0; loop < ranges.size(); ++loop) {
    (llvm::is_contained(reduced, loop) ? length : results) *= ranges[loop];
  }
  if (results <= kFewResults && reduced.size() == 1) {
    if (!DividedReduction::can_divide(op, reduced[0])) return {};
    const int64_t parts = divisor_of(length, std::min(kPartsMax, length / kPartLengthMin));
    return {reduced[0], parts >= kPartsMin ? parts : 1};
  }
  // Cores have a kernel for a row times a matrix, too.
  const bool is_product = products == Products::kOnBlocks ? codegen::product_form(op).has_value()
                                                          : codegen::product_form_of_any_rows(op).has_value();
  if (is_product) return {};
  const bool rows = codegen::reduces_rows(op);
  const int64_t groups = rows ? results : (results + kColumnsOfGroup - 1) / kColumnsOfGroup;
  if (results * length < kElementsMin || groups >= kGroupsEnough || (rows && length < kRowLengthMin)) return {};
  const int64_t most = std::min(kGroupsWanted / groups, length / (rows ? kPartLengthMin : kColumnLengthMin));
  Parts best;
  for (const unsigned loop : reduced) {
    const int64_t parts = DividedReduction::can_divide(op, loop) ? divisor_of(ranges[loop], most) : 1;
    if (parts >= kFewerPartsMin && parts > best.count) best = {loop, parts};
  }
  return best;
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

// The same for an extreme and its place, whose parts begin with what all of it began with.
void split_extreme(mlir::IRRewriter& rewriter, linalg::GenericOp op, const codegen::Extreme& extreme, Parts parts) {
  SmallVector<mlir::Value> begin;
  for (const mlir::Value init : op.getDpsInits()) {
    if (auto fill = init.getDefiningOp<linalg::FillOp>()) begin.push_back(fill.value());
  }
  if (begin.size() != op.getDpsInits().size()) return;
  DividedReduction divided(rewriter, op, parts.loop, parts.count);
  linalg::GenericOp joined = divided.join_parts(
      divided.make_parts(begin), [&](mlir::OpBuilder& body, mlir::ValueRange part, mlir::ValueRange so_far) {
        return codegen::join_extremes(body, extreme, so_far, part);
      });
  rewriter.replaceOp(op, joined.getResults());
}

// By an operation for each result.
void split_combined(mlir::IRRewriter& rewriter, linalg::GenericOp op, Parts parts) {
  const SmallVector<mlir::Operation*> combiners = codegen::combiners_of(op);
  if (combiners.empty()) return;
  rewriter.setInsertionPoint(op);
  SmallVector<mlir::Value> begin;
  for (mlir::Operation* combiner : combiners) {
    begin.push_back(codegen::neutral_of(rewriter, op.getLoc(), combiner));
  }
  DividedReduction divided(rewriter, op, parts.loop, parts.count);
  linalg::GenericOp joined = divided.join_parts(
      divided.make_parts(begin), [&](mlir::OpBuilder& body, mlir::ValueRange part, mlir::ValueRange so_far) {
        SmallVector<mlir::Value> all;
        for (size_t i = 0; i < combiners.size(); ++i) {
          all.push_back(codegen::combine(body, combiners[i], so_far[i], part[i]));
        }
        return all;
      });
  rewriter.replaceOp(op, joined.getResults());
}

bool has_static_shape(linalg::GenericOp op) {
  return llvm::none_of(op.getStaticLoopRanges(), mlir::ShapedType::isDynamic);
}

}  // namespace

mlir::LogicalResult split_reductions(mlir::ModuleOp module, Products products) {
  SmallVector<linalg::GenericOp> reductions;
  module.walk([&](linalg::GenericOp op) {
    const bool fits = op->getParentOfType<util::FuncOp>() && op.hasPureTensorSemantics() &&
                      op.getNumReductionLoops() != 0 && has_static_shape(op);
    if (fits) reductions.push_back(op);
  });
  mlir::IRRewriter rewriter(module.getContext());
  for (linalg::GenericOp op : reductions) {
    op = as_one_loop(op, rewriter);
    const Parts parts = parts_of(op, products);
    if (parts.count == 1) continue;
    if (const std::optional<codegen::Extreme> extreme = codegen::extreme_of(op)) {
      split_extreme(rewriter, op, *extreme, parts);
    } else {
      // Parts are stored before they are joined.
      split_combined(rewriter, codegen::widen_sum(rewriter, op), parts);
    }
  }
  return mlir::success();
}

}  // namespace baton::compiler_lite::schedule
