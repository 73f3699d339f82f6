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

// With fewer channels the copies cost more than they save, except for halves, which then come to be summed in whole pieces
// (padded_channels.hpp).
constexpr int64_t kChannelsMin = 16;

Order order_of_loops(AffineMap map, llvm::ArrayRef<unsigned> last) {
  Order end;
  for (const unsigned loop : last) end.push_back(*dimension_of(map, loop));
  return order_with(map.getNumResults(), end);
}

// The loops that shall be last in each operand: its channels.
struct Layout {
  SmallVector<unsigned> image, weights, result;
};

class LayoutFinder {
 public:
  LayoutFinder(linalg::LinalgOp op, const codegen::ProductForm& form)
      : form_(form),
        sizes_(op.getStaticLoopRanges()),
        image_(op.getIndexingMapsArray()[form.b]),
        weights_(op.getIndexingMapsArray()[form.a]),
        result_(op.getIndexingMapsArray()[2]) {
    const mlir::Type element = mlir::getElementTypeOrSelf(op->getOperand(0).getType());
    are_halves_ = element.isF16() || element.isBF16();
  }

  std::optional<Layout> find() const {
    if (!has_window_along(image_, form_.columns)) return std::nullopt;
    SmallVector<unsigned> rows = form_.other_rows;
    if (form_.rows != codegen::ProductForm::kNone) rows.push_back(form_.rows);
    const std::optional<unsigned> written = largest(rows, weights_, result_, kChannelsMin);
    if (!written) return std::nullopt;
    if (sums_along_windows()) {
      const std::optional<unsigned> own = largest(form_.other_columns, image_, result_, kChannelsMin);
      if (own) return Layout{{*own}, {*written}, {*own, *written}};
    }
    const std::optional<unsigned> summed = largest(form_.steps, image_, weights_, are_halves_ ? 1 : kChannelsMin);
    if (!summed) return std::nullopt;
    return Layout{{*summed}, {*summed, *written}, {*written}};
  }

 private:
  std::optional<unsigned> largest(llvm::ArrayRef<unsigned> loops, AffineMap one, AffineMap other, int64_t least) const {
    std::optional<unsigned> found;
    for (const unsigned loop : loops) {
      if (sizes_[loop] < least || !dimension_of(one, loop) || !dimension_of(other, loop)) continue;
      if (!found || sizes_[loop] > sizes_[*found]) found = loop;
    }
    return found;
  }

  // The gradient of a kernel: each of its few places is a sum over the whole image.
  bool sums_along_windows() const {
    if (llvm::any_of(sizes_, mlir::ShapedType::isDynamic)) return false;
    int64_t summed = 1, written = 1;
    for (const unsigned loop : form_.steps) summed *= has_window_along(image_, loop) ? sizes_[loop] : 1;
    for (unsigned loop = 0; loop < sizes_.size(); ++loop) {
      if (!llvm::is_contained(form_.steps, loop) && has_window_along(image_, loop)) written *= sizes_[loop];
    }
    return summed > written;
  }

  const codegen::ProductForm& form_;
  SmallVector<int64_t> sizes_;
  AffineMap image_, weights_, result_;
  bool are_halves_ = false;
};

struct MoveChannelsLast : mlir::OpInterfaceRewritePattern<linalg::LinalgOp> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;
  mlir::LogicalResult matchAndRewrite(linalg::LinalgOp op, PatternRewriter& rewriter) const override {
    const std::optional<codegen::ProductForm> form =
        op.hasPureTensorSemantics() ? codegen::product_form(op) : std::nullopt;
    const std::optional<Layout> last = form ? LayoutFinder(op, *form).find() : std::nullopt;
    if (!last) return mlir::failure();

    SmallVector<AffineMap> maps = op.getIndexingMapsArray();
    SmallVector<Order> orders(3);
    orders[form->b] = order_of_loops(maps[form->b], last->image);
    orders[form->a] = order_of_loops(maps[form->a], last->weights);
    orders[2] = order_of_loops(maps[2], last->result);

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
