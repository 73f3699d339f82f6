#include "compiler-lite/codegen/prepare.hpp"

#include "compiler-lite/codegen/bounded_rewrites.hpp"
#include "compiler-lite/codegen/by_element.hpp"
#include "compiler-lite/codegen/fusion_rules.hpp"
#include "compiler-lite/codegen/index_checks.hpp"
#include "compiler-lite/codegen/linear_maps.hpp"
#include "compiler-lite/codegen/product.hpp"
#include "compiler-lite/codegen/resolve_dims.hpp"
#include "compiler-lite/codegen/widen_sums.hpp"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"

namespace baton::compiler_lite::codegen {
namespace {

namespace arith = mlir::arith;
namespace bufferization = mlir::bufferization;
namespace linalg = mlir::linalg;
namespace tensor = mlir::tensor;
using mlir::Value;

// Products keep their names, by which cpu/product.cpp knows them.
bool keeps_its_name(linalg::LinalgOp op) {
  return llvm::isa<linalg::MatmulOp, linalg::BatchMatmulOp, linalg::MatmulTransposeAOp, linalg::MatmulTransposeBOp,
                   linalg::BatchMatmulTransposeAOp, linalg::BatchMatmulTransposeBOp>(op.getOperation());
}

struct Generalize : mlir::OpInterfaceRewritePattern<linalg::LinalgOp> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;
  mlir::LogicalResult matchAndRewrite(linalg::LinalgOp op, mlir::PatternRewriter& rewriter) const override {
    // Fills stay: fusion and tiling know them by name.
    if (keeps_its_name(op) || llvm::isa<linalg::GenericOp, linalg::FillOp>(op.getOperation())) return mlir::failure();
    return linalg::generalizeNamedOp(rewriter, op);
  }
};

template <typename Op>
struct InDestinationStyle : mlir::OpRewritePattern<Op> {
  using mlir::OpRewritePattern<Op>::OpRewritePattern;
  mlir::LogicalResult matchAndRewrite(Op op, mlir::PatternRewriter& rewriter) const override {
    return linalg::rewriteInDestinationPassingStyle(rewriter, op);
  }
};

// A tensor that stands in a larger one, which may have dimensions that it dropped; its elements may stand apart there.
struct Part {
  Value source;
  llvm::SmallVector<mlir::OpFoldResult> offsets, sizes, strides;
  llvm::SmallBitVector dropped;
};

// Of the element `here` of the larger tensor: what the part has there, and outside of it what `outside` makes.
Value element_of_part(mlir::OpBuilder& builder, mlir::Location location, const Part& part, llvm::ArrayRef<Value> here,
                      llvm::function_ref<Value(mlir::OpBuilder&)> outside) {
  llvm::SmallVector<Value> place;
  Value is_inside = builder.create<arith::ConstantIntOp>(location, 1, 1);
  for (unsigned d = 0; d < here.size(); ++d) {
    const Value before = mlir::getValueOrCreateConstantIndexOp(builder, location, part.offsets[d]);
    const Value size = mlir::getValueOrCreateConstantIndexOp(builder, location, part.sizes[d]);
    Value at = builder.create<arith::SubIOp>(location, here[d], before);
    if (mlir::getConstantIntValue(part.strides[d]) != 1) {
      const Value stride = mlir::getValueOrCreateConstantIndexOp(builder, location, part.strides[d]);
      const Value between = builder.create<arith::RemUIOp>(location, at, stride);
      const Value zero = builder.create<arith::ConstantIndexOp>(location, 0);
      const Value is_there = builder.create<arith::CmpIOp>(location, arith::CmpIPredicate::eq, between, zero);
      is_inside = builder.create<arith::AndIOp>(location, is_inside, is_there);
      const Value is_behind = builder.create<arith::CmpIOp>(location, arith::CmpIPredicate::uge, here[d], before);
      is_inside = builder.create<arith::AndIOp>(location, is_inside, is_behind);
      at = builder.create<arith::DivUIOp>(location, at, stride);
    }
    // Unsigned: what lies before the part is a large number.
    const Value fits = builder.create<arith::CmpIOp>(location, arith::CmpIPredicate::ult, at, size);
    is_inside = builder.create<arith::AndIOp>(location, is_inside, fits);
    if (!part.dropped.test(d)) place.push_back(at);
  }
  auto choice = builder.create<mlir::scf::IfOp>(
      location, is_inside,
      [&](mlir::OpBuilder& then, mlir::Location at) {
        auto taken = then.create<tensor::ExtractOp>(at, part.source, place);
        mark_inside(taken);
        then.create<mlir::scf::YieldOp>(at, taken.getResult());
      },
      [&](mlir::OpBuilder& otherwise, mlir::Location at) {
        const Value made = outside(otherwise);
        otherwise.create<mlir::scf::YieldOp>(at, made);
      });
  return choice.getResult(0);
}

// Padding as an operation that tiling and bufferization treat like any other: inside the source its element, outside
// the value of the region.
struct PadToGeneric : mlir::OpRewritePattern<tensor::PadOp> {
  using OpRewritePattern::OpRewritePattern;

  mlir::LogicalResult matchAndRewrite(tensor::PadOp pad, mlir::PatternRewriter& rewriter) const override {
    const mlir::Location location = pad.getLoc();
    const auto type = pad.getResultType();
    mlir::ReifiedRankedShapedTypeDims sizes;
    if (mlir::failed(mlir::reifyResultShapes(rewriter, pad, sizes))) return mlir::failure();
    auto generic = make_by_element(
        rewriter, location, sizes[0], type.getElementType(), {},
        [&](mlir::OpBuilder& builder, mlir::Location at, mlir::ValueRange) { return element_of(builder, at, pad); });
    rewriter.replaceOpWithNewOp<tensor::CastOp>(pad, type, generic.getResult(0));
    return mlir::success();
  }

  static Value element_of(mlir::OpBuilder& builder, mlir::Location location, tensor::PadOp pad) {
    const Value source = pad.getSource();
    const llvm::SmallVector<mlir::OpFoldResult> sizes = tensor::getMixedSizes(builder, location, source);
    const llvm::SmallVector<Value> here = this_element(builder, location, sizes.size());
    const llvm::SmallVector<mlir::OpFoldResult> strides(sizes.size(), builder.getIndexAttr(1));
    const Part part{source, pad.getMixedLowPad(), sizes, strides,
                    llvm::SmallBitVector(static_cast<unsigned>(sizes.size()))};
    return element_of_part(builder, location, part, here, [&](mlir::OpBuilder& otherwise) {
      mlir::IRMapping values;
      values.map(pad.getRegion().getArguments(), here);
      mlir::Block& block = pad.getRegion().front();
      for (mlir::Operation& op : block.without_terminator()) otherwise.clone(op, values);
      return values.lookupOrDefault(block.getTerminator()->getOperand(0));
    });
  }
};

// What blocks insert into a tensor, both read from memory, goes element by element: so it is divided among workgroups. Where the
// result is in the place of that tensor, only the slice is written.
void insert_by_element(bufferization::MaterializeInDestinationOp write) {
  auto insert = write.getSource().getDefiningOp<tensor::InsertSliceOp>();
  if (!insert || insert.getDestType().getRank() == 0) return;
  const auto goes_forward = [](int64_t stride) { return stride > 0; };  // Of an unknown one nobody knows.
  if (!llvm::all_of(insert.getStaticStrides(), goes_forward)) return;
  auto fill = insert.getDest().getDefiningOp<linalg::FillOp>();
  auto whole = insert.getDest().getDefiningOp<bufferization::ToTensorOp>();
  if (!insert.getSource().getDefiningOp<bufferization::ToTensorOp>()) return;
  if (!fill && (!whole || whole.getWritable())) return;
  mlir::OpBuilder builder(write);
  const mlir::Location location = insert.getLoc();
  const Part part{insert.getSource(), insert.getMixedOffsets(), insert.getMixedSizes(), insert.getMixedStrides(),
                  insert.getDroppedDims()};
  auto joined = make_by_element(
      builder, location, tensor::getMixedSizes(builder, location, insert.getDest()),
      insert.getDestType().getElementType(), {}, [&](mlir::OpBuilder& body, mlir::Location at, mlir::ValueRange) {
        const llvm::SmallVector<Value> here = this_element(body, at, part.dropped.size());
        return element_of_part(body, at, part, here, [&](mlir::OpBuilder& otherwise) -> Value {
          if (fill) return fill.value();
          auto kept = otherwise.create<tensor::ExtractOp>(at, insert.getDest(), here);
          mark_inside(kept);
          return kept;
        });
      });
  write.getSourceMutable().assign(joined.getResult(0));
}

struct SplatToFill : mlir::OpRewritePattern<tensor::SplatOp> {
  using OpRewritePattern::OpRewritePattern;
  mlir::LogicalResult matchAndRewrite(tensor::SplatOp splat, mlir::PatternRewriter& rewriter) const override {
    const Value empty = rewriter.create<tensor::EmptyOp>(splat.getLoc(), splat.getType(), splat.getDynamicSizes());
    rewriter.replaceOpWithNewOp<linalg::FillOp>(splat, splat.getInput(), empty);
    return mlir::success();
  }
};

bool is_odd(linalg::GenericOp op, mlir::OpOperand* operand) {
  return !linear_steps(op.getMatchingIndexingMap(operand));
}

// Loops whose size an operand says that tiles are cut from.
llvm::SmallVector<bool> loops_told(linalg::GenericOp op) {
  llvm::SmallVector<bool> told(op.getNumLoops(), false);
  for (mlir::OpOperand& operand : op->getOpOperands()) {
    if (is_odd(op, &operand)) continue;
    for (const mlir::AffineExpr result : op.getMatchingIndexingMap(&operand).getResults()) {
      if (const auto loop = llvm::dyn_cast<mlir::AffineDimExpr>(result)) told[loop.getPosition()] = true;
    }
  }
  return told;
}

// Keeps the loops' lengths in the operation: an operand with one element of `tensor` in all dimensions but those of
// these loops. The body does not read it.
struct Extent {
  Value tensor;
  mlir::AffineMap map;
};
std::optional<Extent> extent_of(mlir::IRRewriter& rewriter, linalg::GenericOp op, mlir::OpOperand* operand,
                                llvm::SmallVector<bool>& told) {
  const auto type = llvm::cast<mlir::RankedTensorType>(operand->get().getType());
  const mlir::AffineMap map = op.getMatchingIndexingMap(operand);
  llvm::SmallVector<mlir::OpFoldResult> sizes;
  llvm::SmallVector<int64_t> shape;
  llvm::SmallVector<mlir::AffineExpr> loops;
  for (unsigned d = 0; d < map.getNumResults(); ++d) {
    const auto loop = llvm::dyn_cast<mlir::AffineDimExpr>(map.getResult(d));
    const bool is_new = loop && !std::exchange(told[loop.getPosition()], true);
    sizes.push_back(is_new ? tensor::getMixedSize(rewriter, op.getLoc(), operand->get(), d)
                           : mlir::OpFoldResult(rewriter.getIndexAttr(1)));
    if (!is_new) continue;
    shape.push_back(type.getDimSize(d));
    loops.push_back(loop);
  }
  if (loops.empty()) return std::nullopt;
  const llvm::SmallVector<mlir::OpFoldResult> begin(sizes.size(), rewriter.getIndexAttr(0));
  const llvm::SmallVector<mlir::OpFoldResult> steps(sizes.size(), rewriter.getIndexAttr(1));
  const auto part = mlir::RankedTensorType::get(shape, type.getElementType());
  const Value tensor = rewriter.create<tensor::ExtractSliceOp>(op.getLoc(), part, operand->get(), begin, sizes, steps);
  return Extent{tensor, mlir::AffineMap::get(op.getNumLoops(), 0, loops, op.getContext())};
}

// Replaces such an operand by its element at the place that each turn of the loops names.
void read_elements(mlir::IRRewriter& rewriter, linalg::GenericOp op, llvm::ArrayRef<mlir::OpOperand*> odd) {
  const mlir::Location location = op.getLoc();
  rewriter.setInsertionPointToStart(op.getBody());
  llvm::SmallVector<mlir::OpFoldResult> here;
  for (unsigned loop = 0; loop < op.getNumLoops(); ++loop) {
    here.push_back(rewriter.create<linalg::IndexOp>(location, loop).getResult());
  }
  for (mlir::OpOperand* input : odd) {
    llvm::SmallVector<Value> place;
    for (const mlir::AffineExpr expression : op.getMatchingIndexingMap(input).getResults()) {
      const auto map = mlir::AffineMap::get(op.getNumLoops(), 0, expression);
      place.push_back(mlir::getValueOrCreateConstantIndexOp(
          rewriter, location, mlir::affine::makeComposedFoldedAffineApply(rewriter, location, map, here)));
    }
    const Value element = rewriter.create<tensor::ExtractOp>(location, input->get(), place);
    rewriter.replaceAllUsesWith(op.getMatchingBlockArgument(input), element);
  }
}

// An operand that tiles can't be cut from (turned round, moved, divided) is read as a whole, element by element.
void read_from_whole(mlir::IRRewriter& rewriter, linalg::GenericOp op) {
  llvm::SmallVector<mlir::OpOperand*> odd;
  llvm::SmallVector<Value> inputs;
  llvm::SmallVector<mlir::AffineMap> maps;
  for (mlir::OpOperand* input : op.getDpsInputOperands()) {
    if (is_odd(op, input)) {
      odd.push_back(input);
    } else {
      inputs.push_back(input->get());
      maps.push_back(op.getMatchingIndexingMap(input));
    }
  }
  if (odd.empty()) return;
  read_elements(rewriter, op, odd);
  rewriter.setInsertionPoint(op);
  llvm::SmallVector<bool> told = loops_told(op);
  const size_t kept = inputs.size();
  for (mlir::OpOperand* input : odd) {
    const std::optional<Extent> extent = extent_of(rewriter, op, input, told);
    if (!extent) continue;
    inputs.push_back(extent->tensor);
    maps.push_back(extent->map);
  }
  for (mlir::OpOperand& init : op.getDpsInitsMutable()) maps.push_back(op.getMatchingIndexingMap(&init));
  auto copy = rewriter.create<linalg::GenericOp>(op.getLoc(), op.getResultTypes(), inputs, op.getOutputs(), maps,
                                                 op.getIteratorTypesArray());
  for (mlir::OpOperand* input : llvm::reverse(odd)) op.getBody()->eraseArgument(input->getOperandNumber());
  for (size_t i = kept; i < inputs.size(); ++i) {
    const mlir::Type element = llvm::cast<mlir::RankedTensorType>(inputs[i].getType()).getElementType();
    op.getBody()->insertArgument(static_cast<unsigned>(i), element, op.getLoc());
  }
  rewriter.inlineRegionBefore(op.getRegion(), copy.getRegion(), copy.getRegion().begin());
  rewriter.replaceOp(op, copy.getResults());
}

void read_odd_operands_from_whole(mlir::func::FuncOp kernel) {
  llvm::SmallVector<linalg::GenericOp> operations;
  kernel.walk([&](linalg::GenericOp op) { operations.push_back(op); });
  mlir::IRRewriter rewriter(kernel.getContext());
  for (linalg::GenericOp op : operations) {
    if (op.hasPureTensorSemantics()) read_from_whole(rewriter, op);
  }
}

bool is_read_only(Value value) {
  auto view = value.getDefiningOp<bufferization::ToTensorOp>();
  return view ? !view.getWritable() : bool(value.getDefiningOp<arith::ConstantOp>());
}

// A destination that holds what `value` holds (or nothing in particular), in memory that may be written.
Value make_destination(mlir::OpBuilder& builder, Value value, bool needs_contents) {
  const mlir::Location location = value.getLoc();
  const mlir::Type element = mlir::getElementTypeOrSelf(value.getType());
  const llvm::SmallVector<mlir::OpFoldResult> sizes = tensor::getMixedSizes(builder, location, value);
  if (!needs_contents) return builder.create<tensor::EmptyOp>(location, sizes, element);
  // Element by element from the body: a copy that reads its input like other operations counts as doing nothing, and
  // would be folded away.
  auto copy = make_by_element(
      builder, location, sizes, element, {}, [&](mlir::OpBuilder& body, mlir::Location at, mlir::ValueRange) -> Value {
        auto taken = body.create<tensor::ExtractOp>(at, value, this_element(body, at, sizes.size()));
        mark_inside(taken);
        return taken;
      });
  return copy.getResult(0);
}

// What operations write over.
llvm::SmallVector<mlir::OpOperand*> destinations_in(mlir::func::FuncOp kernel) {
  llvm::SmallVector<mlir::OpOperand*> operands;
  kernel.walk([&](mlir::Operation* op) {
    if (auto linalg_op = llvm::dyn_cast<linalg::LinalgOp>(op)) {
      for (mlir::OpOperand& init : linalg_op.getDpsInitsMutable()) operands.push_back(&init);
    } else if (auto slice = llvm::dyn_cast<tensor::InsertSliceOp>(op)) {
      operands.push_back(&slice.getDestMutable());
    } else if (auto insert = llvm::dyn_cast<tensor::InsertOp>(op)) {
      operands.push_back(&insert.getDestMutable());
    }
  });
  return operands;
}

// A constant of one element that is written over is a fill.
void fill_constant_destinations(mlir::func::FuncOp kernel) {
  for (mlir::OpOperand* operand : destinations_in(kernel)) {
    mlir::SplatElementsAttr splat;
    if (!mlir::matchPattern(operand->get(), mlir::m_Constant(&splat))) continue;
    mlir::OpBuilder builder(operand->getOwner());
    const mlir::Location location = operand->getOwner()->getLoc();
    const auto type = llvm::cast<mlir::RankedTensorType>(operand->get().getType());
    if (!llvm::isa<mlir::FloatType, mlir::IntegerType, mlir::IndexType>(type.getElementType())) continue;
    const auto element = llvm::cast<mlir::TypedAttr>(splat.getSplatValue<mlir::Attribute>());
    const Value number = builder.create<arith::ConstantOp>(location, element);
    const Value empty = builder.create<tensor::EmptyOp>(location, type.getShape(), type.getElementType());
    operand->set(builder.create<linalg::FillOp>(location, number, empty).getResult(0));
  }
}

// Arguments that no result is tied to must not be overwritten, nor constants. Bufferization would copy them into memory of
// their own; what is copied into a destination instead ends up in the result's memory.
void copy_read_only_destinations(mlir::func::FuncOp kernel) {
  for (mlir::OpOperand* operand : destinations_in(kernel)) {
    if (!is_read_only(operand->get())) continue;
    mlir::OpBuilder builder(operand->getOwner());
    auto op = llvm::dyn_cast<linalg::LinalgOp>(operand->getOwner());
    operand->set(make_destination(builder, operand->get(), !op || op.payloadUsesValueFromOperand(operand)));
  }
}

}  // namespace

mlir::LogicalResult prepare_group(mlir::func::FuncOp kernel, Tiling tiling) {
  mlir::MLIRContext* context = kernel.getContext();
  mlir::RewritePatternSet forms(context);
  linalg::populateElementwiseToLinalgConversionPatterns(forms);
  forms.add<Generalize, InDestinationStyle<tensor::FromElementsOp>, InDestinationStyle<tensor::GenerateOp>,
            PadToGeneric, SplatToFill>(context);
  tensor::populateDecomposeTensorConcatPatterns(forms);
  populate_dim_patterns(forms);
  if (mlir::failed(rewrite_greedily(kernel, std::move(forms)))) return mlir::failure();
  hold_indices_inside(kernel);
  fill_constant_destinations(kernel);
  if (tiling == Tiling::kBlocks) kernel.walk(insert_by_element);  // A core copies faster than it chooses.
  copy_read_only_destinations(kernel);
  // Blocks sum products in f32 as they are.
  widen_sums(kernel, /*extremes=*/tiling == Tiling::kCores, [&](mlir::Operation* op) {
    if (tiling == Tiling::kCores) return false;
    const auto product = llvm::cast<linalg::LinalgOp>(op);
    const std::optional<ProductForm> form = product_form(product);
    return form && sums_at_once(product, *form) && !is_tiny(product, *form);
  });

  mlir::RewritePatternSet fusion(context);
  linalg::populateElementwiseOpsFusionPatterns(fusion, fuses_in_kernel);
  linalg::populateEraseUnusedOperandsAndResultsPatterns(fusion);
  linalg::GenericOp::getCanonicalizationPatterns(fusion, context);
  tensor::DimOp::getCanonicalizationPatterns(fusion, context);
  tensor::EmptyOp::getCanonicalizationPatterns(fusion, context);
  tensor::CastOp::getCanonicalizationPatterns(fusion, context);
  populate_dim_patterns(fusion);
  if (mlir::failed(rewrite_greedily(kernel, std::move(fusion)))) return mlir::failure();
  read_odd_operands_from_whole(kernel);
  return mlir::success();
}

}  // namespace baton::compiler_lite::codegen
