#include "compiler-lite/schedule/padded_channels.hpp"

#include "compiler-lite/codegen/product.hpp"
#include "compiler-lite/schedule/reorder.hpp"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"

namespace baton::compiler_lite::schedule {
namespace {

namespace linalg = mlir::linalg;
namespace tensor = mlir::tensor;
using llvm::SmallVector;
using mlir::AffineMap;
using mlir::PatternRewriter;
using mlir::Value;

constexpr int64_t kPiece = 8;  // Halves in 16 bytes.

// The channels of an image and of weights: the dimension that they are of each.
struct Channels {
  unsigned of_image, of_weights;
  int64_t size;
};

// Those that windows sum, if they are what lies side by side in the image.
std::optional<Channels> channels_of(linalg::LinalgOp op, const codegen::ProductForm& form) {
  const SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  const AffineMap image = maps[form.a], weights = maps[form.b];
  if (image.getNumResults() == 0) return std::nullopt;
  const auto last = llvm::dyn_cast<mlir::AffineDimExpr>(image.getResults().back());
  if (!last || !llvm::is_contained(form.steps, last.getPosition())) return std::nullopt;
  const unsigned loop = last.getPosition();
  const std::optional<unsigned> of_weights = dimension_of(weights, loop);
  const SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  const bool has_window = llvm::any_of(form.steps, [&](unsigned step) { return has_window_along(image, step); });
  if (!of_weights || !has_window || mlir::ShapedType::isDynamic(sizes[loop])) return std::nullopt;
  return Channels{image.getNumResults() - 1, *of_weights, sizes[loop]};
}

class Padder {
 public:
  Padder(PatternRewriter& rewriter, mlir::Location location) : rewriter_(rewriter), location_(location) {}

  // `more` zeros behind the elements along the dimension.
  Value pad(Value value, unsigned dimension, int64_t more) {
    const auto type = llvm::cast<mlir::RankedTensorType>(value.getType());
    const mlir::OpFoldResult none = rewriter_.getIndexAttr(0);
    SmallVector<mlir::OpFoldResult> low(static_cast<size_t>(type.getRank()), none), high = low;
    if (auto before = value.getDefiningOp<tensor::PadOp>(); before && can_take_more(before)) {
      low = before.getMixedLowPad();
      high = before.getMixedHighPad();
      value = before.getSource();
    }
    high[dimension] = rewriter_.getIndexAttr(*mlir::getConstantIntValue(high[dimension]) + more);
    SmallVector<int64_t> shape(type.getShape());
    shape[dimension] += more;
    const Value zero =
        rewriter_.create<mlir::arith::ConstantOp>(location_, rewriter_.getZeroAttr(type.getElementType()));
    return rewriter_.create<tensor::PadOp>(location_, type.clone(shape), value, low, high, zero);
  }

 private:
  // It adds zeros, of a number that is known.
  static bool can_take_more(tensor::PadOp op) {
    const Value value = op.getConstantPaddingValue();
    const auto is_known = [](mlir::OpFoldResult each) { return mlir::getConstantIntValue(each).has_value(); };
    return value && mlir::matchPattern(value, mlir::m_PosZeroFloat()) && llvm::all_of(op.getMixedLowPad(), is_known) &&
           llvm::all_of(op.getMixedHighPad(), is_known);
  }

  PatternRewriter& rewriter_;
  mlir::Location location_;
};

struct PadChannels : mlir::OpInterfaceRewritePattern<linalg::LinalgOp> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;
  mlir::LogicalResult matchAndRewrite(linalg::LinalgOp op, PatternRewriter& rewriter) const override {
    const std::optional<codegen::ProductForm> form =
        op.hasPureTensorSemantics() ? codegen::product_form(op) : std::nullopt;
    if (!form) return mlir::failure();
    const mlir::Type element = mlir::getElementTypeOrSelf(op->getOperand(form->a).getType());
    if (!(element.isF16() || element.isBF16())) return mlir::failure();
    const std::optional<Channels> channels = channels_of(op, *form);
    if (!channels || channels->size % kPiece == 0) return mlir::failure();
    const int64_t more = kPiece - channels->size % kPiece;
    Padder padder(rewriter, op.getLoc());
    SmallVector<Value> operands(op->getOperands());
    operands[form->a] = padder.pad(operands[form->a], channels->of_image, more);
    operands[form->b] = padder.pad(operands[form->b], channels->of_weights, more);
    rewriter.replaceOp(op, mlir::clone(rewriter, op.getOperation(), op->getResultTypes(), operands));
    return mlir::success();
  }
};

}  // namespace

void populate_padded_channels_patterns(mlir::RewritePatternSet& patterns) {
  patterns.add<PadChannels>(patterns.getContext());
}

}  // namespace baton::compiler_lite::schedule
