#include "compiler-lite/schedule/channels_last.hpp"

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

// With fewer channels the copies cost more than they save.
constexpr int64_t kChannelsMin = 16;

bool has_window_along(AffineMap map, unsigned loop) {
  return llvm::any_of(map.getResults(), [&](mlir::AffineExpr each) {
    return !llvm::isa<mlir::AffineDimExpr>(each) && each.isFunctionOfDim(loop);
  });
}

Order order_of_loops(AffineMap map, llvm::ArrayRef<unsigned> last) {
  Order end;
  for (const unsigned loop : last) end.push_back(*dimension_of(map, loop));
  return order_with(map.getNumResults(), end);
}

// The loops that are channels: one is summed, one is written.
struct Channels {
  unsigned summed, written;
};

std::optional<Channels> find_channels(linalg::LinalgOp op, const codegen::ProductForm& form) {
  const SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  const SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  const AffineMap image = maps[form.b], weights = maps[form.a], result = maps[2];
  if (!has_window_along(image, form.columns)) return std::nullopt;
  const auto largest = [&](llvm::ArrayRef<unsigned> loops, AffineMap one, AffineMap other) {
    std::optional<unsigned> found;
    for (const unsigned loop : loops) {
      if (sizes[loop] < kChannelsMin || !dimension_of(one, loop) || !dimension_of(other, loop)) continue;
      if (!found || sizes[loop] > sizes[*found]) found = loop;
    }
    return found;
  };
  SmallVector<unsigned> rows = form.other_rows;
  rows.push_back(form.rows);
  const std::optional<unsigned> summed = largest(form.steps, image, weights), written = largest(rows, weights, result);
  if (!summed || !written) return std::nullopt;
  return Channels{*summed, *written};
}

struct MoveChannelsLast : mlir::OpInterfaceRewritePattern<linalg::LinalgOp> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;
  mlir::LogicalResult matchAndRewrite(linalg::LinalgOp op, PatternRewriter& rewriter) const override {
    const std::optional<codegen::ProductForm> form =
        op.hasPureTensorSemantics() ? codegen::product_form(op) : std::nullopt;
    const std::optional<Channels> channels = form ? find_channels(op, *form) : std::nullopt;
    if (!channels) return mlir::failure();

    SmallVector<AffineMap> maps = op.getIndexingMapsArray();
    SmallVector<Order> orders(3);
    orders[form->b] = order_of_loops(maps[form->b], {channels->summed});
    orders[form->a] = order_of_loops(maps[form->a], {channels->summed, channels->written});
    orders[2] = order_of_loops(maps[2], {channels->written});

    Transposer transposer(rewriter, op.getLoc());
    SmallVector<Value> operands;
    for (unsigned i = 0; i < orders.size(); ++i) {
      operands.push_back(transposer.transpose(op->getOperand(i), orders[i]));
      maps[i] = AffineMap::get(maps[i].getNumDims(), 0, in_order<mlir::AffineExpr>(maps[i].getResults(), orders[i]),
                               rewriter.getContext());
    }
    auto sums = rewriter.create<linalg::GenericOp>(op.getLoc(), mlir::TypeRange{operands[2].getType()},
                                                   mlir::ValueRange{operands[0], operands[1]},
                                                   mlir::ValueRange{operands[2]}, maps, op.getIteratorTypesArray());
    rewriter.cloneRegionBefore(op->getRegion(0), sums.getRegion(), sums.getRegion().end());
    Value result = transposer.transpose_back(sums.getResult(0), orders[2]);
    if (result.getType() != op->getResultTypes()[0]) {
      result = rewriter.create<tensor::CastOp>(op.getLoc(), op->getResultTypes()[0], result);
    }
    rewriter.replaceOp(op, result);
    return mlir::success();
  }
};

}  // namespace

void populate_channels_last_patterns(mlir::RewritePatternSet& patterns) {
  patterns.add<MoveChannelsLast>(patterns.getContext());
}

}  // namespace baton::compiler_lite::schedule
