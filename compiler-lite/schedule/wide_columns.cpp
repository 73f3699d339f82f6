#include "compiler-lite/schedule/wide_columns.hpp"

#include "compiler-lite/codegen/linear_maps.hpp"
#include "compiler-lite/codegen/product.hpp"
#include "compiler-lite/schedule/reorder.hpp"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace baton::compiler_lite::schedule {
namespace {

namespace linalg = mlir::linalg;
namespace tensor = mlir::tensor;
using llvm::SmallVector;
using mlir::AffineMap;
using mlir::PatternRewriter;
using mlir::Value;

// Fewer columns leave half of a vector empty, or more; so many are worth the copies.
constexpr int64_t kFewColumns = 8, kManyColumns = 16;
// Turns of a loop beside the columns that would fill a tile, were it the columns.
constexpr int64_t kLongLoop = 256;
// Multiplications for each element that is copied that are worth it.
constexpr int64_t kLeastWork = 16;

int64_t elements_of(Value value) { return llvm::cast<mlir::RankedTensorType>(value.getType()).getNumElements(); }

// A dimension that goes one element further with each step of the loop, as the loop itself does or a window that moves
// along it.
std::optional<unsigned> dimension_along(AffineMap map, unsigned loop) {
  const auto steps = codegen::linear_steps(map);
  if (!steps) return std::nullopt;
  std::optional<unsigned> found;
  for (unsigned d = 0; d < steps->size(); ++d) {
    if ((*steps)[d][loop] == 0) continue;
    if (found || (*steps)[d][loop] != 1) return std::nullopt;
    found = d;
  }
  return found;
}

// A loop that may be the columns, the operand that it moves, and what is copied for it.
struct Columns {
  unsigned loop, operand;
  int64_t copied;
};

std::optional<Columns> columns_along(linalg::LinalgOp op, unsigned loop) {
  const SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  const bool moves_first = maps[0].isFunctionOfDim(loop), moves_second = maps[1].isFunctionOfDim(loop);
  if (moves_first == moves_second || !dimension_of(maps[2], loop)) return std::nullopt;
  Columns columns{loop, moves_first ? 0u : 1u, elements_of(op->getOperand(2))};
  const Value operand = op->getOperand(columns.operand);
  const std::optional<unsigned> dimension = dimension_along(maps[columns.operand], loop);
  if (!dimension) return std::nullopt;
  const bool is_last = *dimension + 1 == maps[columns.operand].getNumResults();
  columns.copied += is_last ? 0 : elements_of(operand);
  return columns;
}

// The columns for which least is copied, where that is worth it.
std::optional<Columns> find_columns(linalg::LinalgOp op) {
  const SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  const auto kinds = op.getIteratorTypesArray();
  std::optional<Columns> best;
  int64_t work = 1;
  for (unsigned loop = 0; loop < sizes.size(); ++loop) {
    work *= sizes[loop];
    if (kinds[loop] != mlir::utils::IteratorType::parallel || sizes[loop] < kManyColumns) continue;
    const std::optional<Columns> columns = columns_along(op, loop);
    if (columns && (!best || columns->copied < best->copied)) best = columns;
  }
  return best && work >= kLeastWork * best->copied ? best : std::nullopt;
}

bool has_few_columns(linalg::LinalgOp op, Widened which) {
  const std::optional<codegen::ProductForm> form = codegen::product_form(op);
  const SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  if (!form || llvm::any_of(sizes, mlir::ShapedType::isDynamic)) return false;
  // Short ones that follow each other become one loop (joined_loops.hpp).
  const bool has_long_others =
      llvm::any_of(form->other_columns, [&](unsigned loop) { return sizes[loop] >= kLongLoop; });
  const bool fits = which == Widened::kAll || form->steps.size() > 1 || has_long_others;
  return fits && sizes[form->columns] <= kFewColumns;
}

struct WidenColumns : mlir::OpInterfaceRewritePattern<linalg::LinalgOp> {
  WidenColumns(mlir::MLIRContext* context, Widened which) : OpInterfaceRewritePattern(context), which_(which) {}

  mlir::LogicalResult matchAndRewrite(linalg::LinalgOp op, PatternRewriter& rewriter) const override {
    if (!op.hasPureTensorSemantics() || !has_few_columns(op, which_)) return mlir::failure();
    const std::optional<Columns> columns = find_columns(op);
    if (!columns) return mlir::failure();
    SmallVector<AffineMap> maps = op.getIndexingMapsArray();
    SmallVector<Value> operands(op->getOperands());
    SmallVector<Order> orders;
    Transposer transposer(rewriter, op.getLoc());
    for (unsigned i = 0; i < maps.size(); ++i) {
      const bool moves = i == 2 || i == columns->operand;
      const unsigned rank = maps[i].getNumResults();
      orders.push_back(moves ? order_with(rank, {*dimension_along(maps[i], columns->loop)}) : order_with(rank, {}));
      operands[i] = transposer.transpose(operands[i], orders[i]);
      maps[i] = AffineMap::get(maps[i].getNumDims(), 0, in_order<mlir::AffineExpr>(maps[i].getResults(), orders[i]),
                               rewriter.getContext());
    }
    auto sums = rewriter.create<linalg::GenericOp>(op.getLoc(), mlir::TypeRange{operands[2].getType()},
                                                   mlir::ValueRange{operands[0], operands[1]},
                                                   mlir::ValueRange{operands[2]}, maps, op.getIteratorTypesArray());
    rewriter.cloneRegionBefore(op->getRegion(0), sums.getRegion(), sums.getRegion().end());
    rewriter.replaceOp(op, transposer.transpose_back(sums.getResult(0), orders[2]));
    return mlir::success();
  }

 private:
  Widened which_;
};

}  // namespace

void populate_wide_column_patterns(mlir::RewritePatternSet& patterns, Widened which) {
  patterns.add<WidenColumns>(patterns.getContext(), which);
}

}  // namespace baton::compiler_lite::schedule
