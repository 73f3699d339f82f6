#include "compiler-lite/specs/fold_dims.hpp"

#include "compiler-lite/codegen/bounded_rewrites.hpp"
#include "compiler-lite/dialects/flow/dialect.hpp"
#include "compiler-lite/dialects/hal/dialect.hpp"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace baton::compiler_lite::specs {
namespace {

using mlir::RankedTensorType;
using mlir::Value;

// The position of dimension `dim` among the dynamic ones of a type.
size_t dynamic_position(RankedTensorType type, int64_t dim) {
  size_t position = 0;
  for (int64_t before = 0; before < dim; ++before) {
    if (type.isDynamicDim(static_cast<unsigned>(before))) ++position;
  }
  return position;
}

// The value that stands for dimension `dim` of `tensor` where it is made, or null.
Value known_dim(Value tensor, int64_t dim) {
  const auto type = mlir::cast<RankedTensorType>(tensor.getType());
  if (auto import = tensor.getDefiningOp<hal::TensorImportOp>()) {
    return import.getTargetDims()[dynamic_position(type, dim)];
  }
  auto dispatch = tensor.getDefiningOp<flow::DispatchOp>();
  if (!dispatch) return {};
  size_t position = dynamic_position(type, dim);
  for (const Value result : dispatch.getResults()) {
    if (result == tensor) break;
    if (const auto before = mlir::dyn_cast<RankedTensorType>(result.getType())) {
      position += static_cast<size_t>(before.getNumDynamicDims());
    }
  }
  return dispatch.getResultDims()[position];
}

struct FoldDim : mlir::OpRewritePattern<mlir::tensor::DimOp> {
  using OpRewritePattern::OpRewritePattern;
  mlir::LogicalResult matchAndRewrite(mlir::tensor::DimOp op, mlir::PatternRewriter& rewriter) const override {
    const auto type = mlir::dyn_cast<RankedTensorType>(op.getSource().getType());
    const std::optional<int64_t> dim = op.getConstantIndex();
    if (!type || !dim || *dim < 0 || *dim >= type.getRank() || !type.isDynamicDim(static_cast<unsigned>(*dim))) {
      return mlir::failure();
    }
    const Value known = known_dim(op.getSource(), *dim);
    if (!known) return mlir::failure();
    rewriter.replaceOp(op, known);
    return mlir::success();
  }
};

}  // namespace

mlir::LogicalResult fold_dims(mlir::ModuleOp program) {
  mlir::RewritePatternSet patterns(program.getContext());
  patterns.add<FoldDim>(program.getContext());
  return codegen::rewrite_greedily(program, std::move(patterns));
}

}  // namespace baton::compiler_lite::specs
