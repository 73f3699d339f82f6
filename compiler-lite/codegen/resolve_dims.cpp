#include "compiler-lite/codegen/resolve_dims.hpp"

#include "compiler-lite/codegen/bounded_rewrites.hpp"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/MemRef/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Transforms/Passes.h"

namespace baton::compiler_lite::codegen {
namespace {

namespace tensor = mlir::tensor;

struct DimOfExpandShape : mlir::OpRewritePattern<tensor::DimOp> {
  explicit DimOfExpandShape(mlir::MLIRContext* context)
      : OpRewritePattern(context, mlir::PatternBenefit(2)) {}  // Before MLIR's.
  mlir::LogicalResult matchAndRewrite(tensor::DimOp op, mlir::PatternRewriter& rewriter) const override {
    auto expand = op.getSource().getDefiningOp<tensor::ExpandShapeOp>();
    const std::optional<int64_t> dimension = op.getConstantIndex();
    if (!expand || !dimension || *dimension < 0 || *dimension >= expand.getResultType().getRank())
      return mlir::failure();
    const mlir::OpFoldResult size = mlir::getMixedValues(expand.getStaticOutputShape(), expand.getOutputShape(),
                                                         rewriter)[static_cast<size_t>(*dimension)];
    rewriter.replaceOp(op, mlir::getValueOrCreateConstantIndexOp(rewriter, op.getLoc(), size));
    return mlir::success();
  }
};

}  // namespace

void populate_named_sizes(mlir::RewritePatternSet& patterns) { patterns.add<DimOfExpandShape>(patterns.getContext()); }

void populate_dim_patterns(mlir::RewritePatternSet& patterns) {
  mlir::memref::populateResolveRankedShapedTypeResultDimsPatterns(patterns);
  populate_named_sizes(patterns);
}

std::unique_ptr<mlir::Pass> create_canonicalizer() {
  mlir::GreedyRewriteConfig config;
  config.enableRegionSimplification = kRegionSimplification;
  // The name as clang and as g++ spell it; the compiler that built MLIR decides.
  return mlir::createCanonicalizerPass(
      config, {"(anonymous namespace)::FoldDimOfExpandShape", "{anonymous}::FoldDimOfExpandShape"});
}

}  // namespace baton::compiler_lite::codegen
