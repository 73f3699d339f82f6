#include "compiler-lite/schedule/tensor_gather.hpp"

#include "compiler-lite/codegen/by_element.hpp"
#include "compiler-lite/codegen/index_checks.hpp"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"

namespace baton::compiler_lite::schedule {
namespace {

namespace arith = mlir::arith;
namespace linalg = mlir::linalg;
namespace tensor = mlir::tensor;
using llvm::SmallVector;
using mlir::Location;
using mlir::OpBuilder;
using mlir::Value;

struct GatherToGeneric : mlir::OpRewritePattern<tensor::GatherOp> {
  using OpRewritePattern::OpRewritePattern;

  mlir::LogicalResult matchAndRewrite(tensor::GatherOp op, mlir::PatternRewriter& rewriter) const override {
    const Location location = op.getLoc();
    const auto type = op.getResultType();
    auto generic = codegen::make_by_element(rewriter, location, sizes_of(op, rewriter), type.getElementType(), {},
                                            [&](OpBuilder& body, Location at, mlir::ValueRange) -> Value {
                                              auto element = body.create<tensor::ExtractOp>(at, op.getSource(),
                                                                                            place_of(op, body, at));
                                              SmallVector<bool> inside;
                                              for (unsigned i = 0; i < op.getSourceType().getRank(); ++i)
                                                inside.push_back(!is_gathered(op, i));
                                              codegen::mark_inside(element, inside);
                                              return element;
                                            });
    rewriter.replaceOpWithNewOp<tensor::CastOp>(op, type, generic.getResult(0));
    return mlir::success();
  }

 private:
  static unsigned batch_rank(tensor::GatherOp op) { return static_cast<unsigned>(op.getIndicesType().getRank() - 1); }
  static bool is_gathered(tensor::GatherOp op, unsigned dimension) {
    return llvm::is_contained(op.getGatherDims(), static_cast<int64_t>(dimension));
  }
  // Whether the result has the gathered dimensions, as 1.
  static bool keeps_dimensions(tensor::GatherOp op) {
    return op.getResultType().getRank() == batch_rank(op) + op.getSourceType().getRank();
  }

  static SmallVector<mlir::OpFoldResult> sizes_of(tensor::GatherOp op, OpBuilder& builder) {
    SmallVector<mlir::OpFoldResult> sizes;
    for (unsigned i = 0; i < batch_rank(op); ++i) {
      sizes.push_back(tensor::getMixedSize(builder, op.getLoc(), op.getIndices(), i));
    }
    for (unsigned i = 0; i < op.getSourceType().getRank(); ++i) {
      if (!is_gathered(op, i)) {
        sizes.push_back(tensor::getMixedSize(builder, op.getLoc(), op.getSource(), i));
      } else if (keeps_dimensions(op)) {
        sizes.push_back(builder.getIndexAttr(1));
      }
    }
    return sizes;
  }

  // Where in the source the element of this iteration lies.
  static SmallVector<Value> place_of(tensor::GatherOp op, OpBuilder& builder, Location location) {
    SmallVector<Value> batch, place;
    unsigned next = 0;
    while (next < batch_rank(op)) batch.push_back(builder.create<linalg::IndexOp>(location, next++));
    for (unsigned i = 0; i < op.getSourceType().getRank(); ++i) {
      if (!is_gathered(op, i)) {
        place.push_back(builder.create<linalg::IndexOp>(location, next++));
        continue;
      }
      if (keeps_dimensions(op)) ++next;
      SmallVector<Value> at = batch;
      const auto number = llvm::find(op.getGatherDims(), static_cast<int64_t>(i)) - op.getGatherDims().begin();
      at.push_back(builder.create<arith::ConstantIndexOp>(location, number));
      auto element = builder.create<tensor::ExtractOp>(location, op.getIndices(), at);
      codegen::mark_inside(element);
      const Value index = element;
      place.push_back(index.getType().isIndex()
                          ? index
                          : builder.create<arith::IndexCastOp>(location, builder.getIndexType(), index).getResult());
    }
    return place;
  }
};

}  // namespace

void populate_gather_patterns(mlir::RewritePatternSet& patterns) {
  patterns.add<GatherToGeneric>(patterns.getContext());
}

}  // namespace baton::compiler_lite::schedule
