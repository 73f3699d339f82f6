#include "compiler-lite/schedule/split_products.hpp"

#include "compiler-lite/codegen/by_element.hpp"
#include "compiler-lite/codegen/fusion_rules.hpp"
#include "compiler-lite/codegen/product.hpp"
#include "compiler-lite/codegen/tile_sizes.hpp"
#include "compiler-lite/dialects/util/dialect.hpp"
#include "compiler-lite/schedule/attention_groups.hpp"
#include "compiler-lite/schedule/divided_reduction.hpp"
#include "compiler-lite/schedule/libraries.hpp"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

namespace baton::compiler_lite::schedule {
namespace {

namespace arith = mlir::arith;
namespace linalg = mlir::linalg;
namespace tensor = mlir::tensor;
using codegen::convert_element;
using mlir::failed;
using mlir::Value;

bool is_narrow_float(mlir::Type type) {
  const mlir::Type element = mlir::getElementTypeOrSelf(type);
  return llvm::isa<mlir::FloatType>(element) && element.getIntOrFloatBitWidth() < 32;
}

bool begins_at_zero(linalg::LinalgOp product) {
  auto fill = product.getDpsInits()[0].getDefiningOp<linalg::FillOp>();
  return fill && (mlir::matchPattern(fill.getInputs()[0], mlir::m_AnyZeroFloat()) ||
                  mlir::matchPattern(fill.getInputs()[0], mlir::m_Zero()));
}

// An elementwise operation in the place of `source`, with its elements in the type `to`.
linalg::GenericOp converted(mlir::IRRewriter& rewriter, Value source, mlir::RankedTensorType to) {
  return codegen::make_by_element(
      rewriter, source.getLoc(), mlir::getAsIndexOpFoldResult(to.getContext(), to.getShape()), to.getElementType(),
      source, [&](mlir::OpBuilder& builder, mlir::Location at, mlir::ValueRange elements) {
        return convert_element(builder, at, elements[0], to.getElementType(), /*is_unsigned=*/false);
      });
}

// The same product with sums in f32, which begin at zero.
linalg::GenericOp in_f32(mlir::IRRewriter& rewriter, linalg::LinalgOp product) {
  const mlir::Location location = product.getLoc();
  const auto narrow = llvm::cast<mlir::RankedTensorType>(product->getResult(0).getType());
  const auto type = mlir::RankedTensorType::get(narrow.getShape(), rewriter.getF32Type());
  const Value zero = rewriter.create<arith::ConstantOp>(location, rewriter.getF32FloatAttr(0));
  const Value empty = rewriter.create<tensor::EmptyOp>(location, type.getShape(), type.getElementType());
  const Value begin = rewriter.create<linalg::FillOp>(location, zero, empty).getResult(0);
  return rewriter.create<linalg::GenericOp>(
      location, type, mlir::ValueRange{product->getOperand(0), product->getOperand(1)}, begin,
      product.getIndexingMapsArray(), product.getIteratorTypesArray(),
      [&](mlir::OpBuilder& builder, mlir::Location at, mlir::ValueRange elements) {
        const auto wide = [&](Value element) {
          return convert_element(builder, at, element, builder.getF32Type(), /*is_unsigned=*/false);
        };
        const Value one = builder.create<arith::MulFOp>(at, wide(elements[0]), wide(elements[1]));
        const Value sum = builder.create<arith::AddFOp>(at, elements[2], one);
        builder.create<linalg::YieldOp>(at, sum);
      });
}

// An operation that reads the conversion element by element takes it over: its kernel then also sums the parts.
void fuse_into_readers(mlir::IRRewriter& rewriter, linalg::GenericOp conversion) {
  llvm::SmallVector<mlir::OpOperand*> uses;
  for (mlir::OpOperand& use : conversion->getUses()) uses.push_back(&use);
  if (uses.size() != 1 || is_library_work(uses[0]->getOwner())) return;
  if (!linalg::areElementwiseOpsFusable(uses[0]) || !codegen::fuses_in_program(uses[0])) return;
  mlir::Operation* reader = uses[0]->getOwner();
  rewriter.setInsertionPoint(reader);
  mlir::FailureOr<linalg::ElementwiseOpFusionResult> fused = linalg::fuseElementwiseOps(rewriter, uses[0]);
  if (failed(fused)) return;
  for (const auto& [before, after] : fused->replacements) {
    if (before.getDefiningOp() == reader) rewriter.replaceAllUsesWith(before, after);
  }
  rewriter.eraseOp(reader);
  if (conversion->use_empty()) rewriter.eraseOp(conversion);
}

bool may_split(linalg::LinalgOp product) {
  return product->getParentOfType<util::FuncOp>() && product.hasPureTensorSemantics() && !is_library_work(product) &&
         (!is_narrow_float(product->getResult(0).getType()) || begins_at_zero(product));
}

codegen::LoopParts parts_of(linalg::LinalgOp product) {
  if (product.getNumReductionLoops() > 1) {
    return codegen::product_loop_parts(
        product, [&](unsigned loop) { return DividedReduction::can_divide(product, loop, /*with_others=*/true); });
  }
  llvm::SmallVector<unsigned> reduced;
  product.getReductionDims(reduced);
  return {reduced[0], codegen::product_parts(product)};
}

// Divides one of several loops of steps; what sums the parts adds as the product does.
void divide_loop(mlir::IRRewriter& rewriter, linalg::LinalgOp product, codegen::LoopParts by) {
  rewriter.setInsertionPoint(product);
  const mlir::Type element = mlir::getElementTypeOrSelf(product->getResult(0).getType());
  const Value zero = rewriter.create<arith::ConstantOp>(product.getLoc(), rewriter.getZeroAttr(element));
  DividedReduction divided(rewriter, product, by.loop, by.parts);
  linalg::GenericOp sum = divided.join_parts(
      divided.make_parts(zero), [&](mlir::OpBuilder& body, mlir::ValueRange part, mlir::ValueRange so_far) {
        const mlir::Location at = product.getLoc();
        const bool is_float = llvm::isa<mlir::FloatType>(element);
        const Value added = is_float ? body.create<arith::AddFOp>(at, so_far[0], part[0]).getResult()
                                     : body.create<arith::AddIOp>(at, so_far[0], part[0]).getResult();
        return llvm::SmallVector<Value>{added};
      });
  rewriter.replaceOp(product, sum.getResults());
}

mlir::LogicalResult split(mlir::IRRewriter& rewriter, linalg::LinalgOp product, codegen::LoopParts by) {
  rewriter.setInsertionPoint(product);
  std::optional<linalg::GenericOp> conversion;
  const auto type = llvm::cast<mlir::RankedTensorType>(product->getResult(0).getType());
  if (is_narrow_float(type)) {
    linalg::GenericOp wide = in_f32(rewriter, product);
    conversion = converted(rewriter, wide.getResult(0), type);
    rewriter.replaceOp(product, conversion->getResults());
    product = llvm::cast<linalg::LinalgOp>(wide.getOperation());
    rewriter.setInsertionPoint(product);
  }
  if (product.getNumReductionLoops() > 1) {
    divide_loop(rewriter, product, by);
  } else {
    const auto control = [&](linalg::LinalgOp) { return linalg::SplitReductionOptions{by.parts, 0, false}; };
    if (failed(linalg::splitReduction(rewriter, product, control))) return mlir::failure();
  }
  if (conversion) fuse_into_readers(rewriter, *conversion);
  return mlir::success();
}

}  // namespace

mlir::LogicalResult split_products(mlir::ModuleOp module) {
  // Attention is one kernel, whichever of its operations is the last.
  llvm::SmallPtrSet<mlir::Operation*, 8> attending;
  module.walk([&](linalg::LinalgOp op) {
    for (mlir::Operation* each : attention_of(op)) attending.insert(each);
  });
  llvm::SmallVector<std::pair<linalg::LinalgOp, codegen::LoopParts>> products;
  module.walk([&](linalg::LinalgOp op) {
    if (!codegen::product_form(op) || attending.contains(op) || !may_split(op)) return;
    if (const codegen::LoopParts by = parts_of(op); by.parts > 1) products.emplace_back(op, by);
  });
  mlir::IRRewriter rewriter(module.getContext());
  for (const auto& [product, by] : products) {
    if (failed(split(rewriter, product, by))) return product->emitOpError("can't be divided along its steps");
  }
  return mlir::success();
}

}  // namespace baton::compiler_lite::schedule
