#include "compiler-lite/schedule/normalize.hpp"

#include "compiler-lite/codegen/bounded_rewrites.hpp"
#include "compiler-lite/codegen/fusion_rules.hpp"
#include "compiler-lite/codegen/resolve_dims.hpp"
#include "compiler-lite/codegen/scatter.hpp"
#include "compiler-lite/codegen/total_integers.hpp"
#include "compiler-lite/dialects/flow/dialect.hpp"
#include "compiler-lite/dialects/hal/dialect.hpp"
#include "compiler-lite/dialects/util/dialect.hpp"
#include "compiler-lite/schedule/brief_loops.hpp"
#include "compiler-lite/schedule/channels_last.hpp"
#include "compiler-lite/schedule/check_bounds.hpp"
#include "compiler-lite/schedule/chosen_parts.hpp"
#include "compiler-lite/schedule/computed_parts.hpp"
#include "compiler-lite/schedule/form_dispatches.hpp"
#include "compiler-lite/schedule/inlined_calls.hpp"
#include "compiler-lite/schedule/joined_loops.hpp"
#include "compiler-lite/schedule/joined_rows.hpp"
#include "compiler-lite/schedule/narrowings.hpp"
#include "compiler-lite/schedule/padded_channels.hpp"
#include "compiler-lite/schedule/phased_sums.hpp"
#include "compiler-lite/schedule/repeats.hpp"
#include "compiler-lite/schedule/several_results.hpp"
#include "compiler-lite/schedule/sliced_products.hpp"
#include "compiler-lite/schedule/small_loops.hpp"
#include "compiler-lite/schedule/split_reductions.hpp"
#include "compiler-lite/schedule/stepped_sums.hpp"
#include "compiler-lite/schedule/tensor_gather.hpp"
#include "compiler-lite/schedule/tensors.hpp"
#include "compiler-lite/schedule/wide_columns.hpp"
#include "llvm/ADT/SmallBitVector.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/MemRef/Transforms/Transforms.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/DialectConversion.h"
#include "mlir/Transforms/Passes.h"

namespace baton::compiler_lite::schedule {
namespace {

namespace linalg = mlir::linalg;
namespace tensor = mlir::tensor;
using llvm::SmallVector;
using mlir::failed;
using mlir::LogicalResult;
using mlir::success;
using mlir::Value;

// What computes elements by a region of its own: what stands there is a kernel's.
bool is_elementwise_region(mlir::Operation* op) {
  return llvm::isa<linalg::LinalgOp, tensor::GenerateOp, tensor::PadOp>(op);
}

bool is_in_kernel(mlir::Operation* op) {
  while ((op = op->getParentOp())) {
    if (is_elementwise_region(op)) return true;
  }
  return false;
}

// scf around tensors becomes branches: a block is what gets scheduled.
LogicalResult lower_loops_over_tensors(mlir::ModuleOp module) {
  for (util::FuncOp function : module.getOps<util::FuncOp>()) {
    const bool needed =
        function
            .walk<mlir::WalkOrder::PreOrder>([](mlir::Operation* op) {
              if (is_elementwise_region(op)) return mlir::WalkResult::skip();
              const bool is_loop =
                  llvm::isa_and_nonnull<mlir::scf::SCFDialect>(op->getDialect()) && op->getNumRegions() > 0;
              return is_loop && contains_tensors(op) ? mlir::WalkResult::interrupt() : mlir::WalkResult::advance();
            })
            .wasInterrupted();
    if (!needed) continue;
    mlir::RewritePatternSet patterns(module.getContext());
    mlir::populateSCFToControlFlowConversionPatterns(patterns);
    mlir::ConversionTarget target(*module.getContext());
    target.addDynamicallyLegalOp<mlir::scf::ForOp, mlir::scf::IfOp, mlir::scf::WhileOp, mlir::scf::IndexSwitchOp,
                                 mlir::scf::ForallOp, mlir::scf::ParallelOp, mlir::scf::ExecuteRegionOp>(
        [](mlir::Operation* op) { return is_in_kernel(op); });
    target.markUnknownOpDynamicallyLegal([](mlir::Operation*) { return true; });
    if (failed(mlir::applyPartialConversion(function, target, std::move(patterns)))) return mlir::failure();
  }
  return success();
}

// The same elements in another order, and nothing else: a product can read what they are of.
bool is_reordered(Value tensor) {
  if (tensor.getDefiningOp<linalg::TransposeOp>()) return true;
  auto copy = tensor.getDefiningOp<linalg::GenericOp>();
  if (!copy || copy.getNumDpsInputs() != 1 || copy.getNumResults() != 1 || copy.getNumReductionLoops() != 0)
    return false;
  const llvm::SmallVector<mlir::AffineMap> maps = copy.getIndexingMapsArray();
  auto yield = llvm::cast<linalg::YieldOp>(copy.getBody()->getTerminator());
  return yield.getValues()[0] == copy.getRegionInputArgs()[0] && maps[0].isPermutation() && maps[1].isPermutation();
}

// One row or one column: a sum, from which unit dimensions can be dropped where it has no name.
bool has_single_row(linalg::LinalgOp op) {
  const llvm::SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  llvm::SmallVector<unsigned> loops;
  op.getParallelDims(loops);
  return llvm::any_of(loops, [&](unsigned loop) { return sizes[loop] == 1; });
}

// Products and convolutions keep their names, by which the code generator knows them; fills are pulled into groups by
// name. A product of what was reordered gives its name up, and reads it in its old order.
bool keeps_its_name(linalg::LinalgOp op) {
  const bool is_named = !llvm::isa<linalg::GenericOp>(op.getOperation());
  if (is_named && llvm::isa<linalg::ContractionOpInterface>(op.getOperation()) &&
      (has_single_row(op) || llvm::any_of(op.getDpsInputs(), is_reordered))) {
    return false;
  }
  return llvm::isa<linalg::GenericOp, linalg::FillOp>(op.getOperation()) ||
         llvm::isa<linalg::ContractionOpInterface, linalg::ConvolutionOpInterface>(op.getOperation());
}

struct Generalize : mlir::OpInterfaceRewritePattern<linalg::LinalgOp> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;
  LogicalResult matchAndRewrite(linalg::LinalgOp op, mlir::PatternRewriter& rewriter) const override {
    if (keeps_its_name(op) || !op.hasPureTensorSemantics()) return mlir::failure();
    return linalg::generalizeNamedOp(rewriter, op);
  }
};

// A convolution whose windows are single elements gives its name up: what is left is a product.
struct GeneralizeSingleWindows : mlir::OpInterfaceRewritePattern<linalg::LinalgOp> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;
  LogicalResult matchAndRewrite(linalg::LinalgOp op, mlir::PatternRewriter& rewriter) const override {
    const bool is_named = !llvm::isa<linalg::GenericOp>(op.getOperation());
    if (!is_named || !llvm::isa<linalg::ConvolutionOpInterface>(op.getOperation()) || !op.hasPureTensorSemantics()) {
      return mlir::failure();
    }
    const llvm::SmallVector<int64_t> sizes = op.getStaticLoopRanges();
    SmallVector<unsigned> steps;
    op.getReductionDims(steps);
    for (const mlir::AffineExpr index : op.getIndexingMapsArray()[0].getResults()) {
      const auto is_longer = [&](unsigned step) { return index.isFunctionOfDim(step) && sizes[step] != 1; };
      if (!llvm::isa<mlir::AffineDimExpr>(index) && llvm::any_of(steps, is_longer)) return mlir::failure();
    }
    return linalg::generalizeNamedOp(rewriter, op);
  }
};

// A tensor without values, whichever of its sizes its type knows.
bool is_empty(Value tensor) {
  while (auto cast = tensor.getDefiningOp<tensor::CastOp>()) tensor = cast.getSource();
  return tensor.getDefiningOp<tensor::EmptyOp>() != nullptr;
}

// A result that is written before it is read needs no operand for its first value.
struct ForgetInitialValue : mlir::OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(linalg::GenericOp op, mlir::PatternRewriter& rewriter) const override {
    bool changed = false;
    if (!op.hasPureTensorSemantics() || op.getNumReductionLoops() != 0) return mlir::failure();
    for (mlir::OpOperand& init : op.getDpsInitsMutable()) {
      if (op.payloadUsesValueFromOperand(&init) || is_empty(init.get())) continue;
      const mlir::Location location = op.getLoc();
      SmallVector<mlir::OpFoldResult> sizes = tensor::getMixedSizes(rewriter, location, init.get());
      const auto type = llvm::cast<mlir::RankedTensorType>(init.get().getType());
      Value empty = rewriter.create<tensor::EmptyOp>(location, sizes, type.getElementType());
      if (empty.getType() != type) empty = rewriter.create<tensor::CastOp>(location, type, empty);
      rewriter.modifyOpInPlace(op, [&] { init.set(empty); });
      changed = true;
    }
    return success(changed);
  }
};

// A tensor that begins with the same number everywhere, as a sum of one step does, is replaced by the number.
struct ReadFilledValue : mlir::OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(linalg::GenericOp op, mlir::PatternRewriter& rewriter) const override {
    bool changed = false;
    if (!op.hasPureTensorSemantics() || op.getNumReductionLoops() != 0) return mlir::failure();
    for (mlir::OpOperand& init : op.getDpsInitsMutable()) {
      auto fill = init.get().getDefiningOp<linalg::FillOp>();
      if (!fill || !op.payloadUsesValueFromOperand(&init)) continue;
      rewriter.replaceAllUsesWith(op.getMatchingBlockArgument(&init), fill.value());
      rewriter.modifyOpInPlace(op, [&] { init.set(fill.output()); });
      changed = true;
    }
    return success(changed);
  }
};

// The same number everywhere is a fill: a command of its own, or nothing at all where it is read.
struct ConstantToFill : mlir::OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(linalg::GenericOp op, mlir::PatternRewriter& rewriter) const override {
    if (!op.hasPureTensorSemantics() || op.getNumReductionLoops() != 0 || op->getNumResults() != 1) {
      return mlir::failure();
    }
    const Value number = op.getBody()->getTerminator()->getOperand(0);
    mlir::Attribute value;
    if (!mlir::matchPattern(number, mlir::m_Constant(&value))) return mlir::failure();
    if (!op.getIndexingMapsArray().back().isPermutation()) return mlir::failure();
    mlir::Operation* constant = rewriter.clone(*number.getDefiningOp());
    rewriter.replaceOpWithNewOp<linalg::FillOp>(op, constant->getResult(0), op.getOutputs()[0]);
    return success();
  }
};

void add_clean_ups(mlir::RewritePatternSet& patterns) {
  mlir::MLIRContext* context = patterns.getContext();
  linalg::GenericOp::getCanonicalizationPatterns(patterns, context);
  linalg::populateEraseUnusedOperandsAndResultsPatterns(patterns);
  tensor::DimOp::getCanonicalizationPatterns(patterns, context);
  // Not those of tensor.empty: see infer_sizes().
  tensor::CastOp::getCanonicalizationPatterns(patterns, context);
  mlir::tensor::populateFoldTensorEmptyPatterns(patterns);
}

LogicalResult rewrite_functions(mlir::ModuleOp module, mlir::RewritePatternSet patterns) {
  codegen::populate_named_sizes(patterns);
  const mlir::FrozenRewritePatternSet frozen(std::move(patterns));
  for (util::FuncOp function : module.getOps<util::FuncOp>()) {
    if (failed(codegen::rewrite_greedily(function, frozen))) return mlir::failure();
  }
  auto groups = module.lookupSymbol<mlir::ModuleOp>(kGroupModule);
  if (!groups) return success();
  // Loops that are groups already; scatters stay what they were known as, and sorts have nothing to rewrite.
  for (auto group : groups.getOps<mlir::func::FuncOp>()) {
    if (!group->hasAttr(codegen::kScatter) && failed(codegen::rewrite_greedily(group, frozen))) return mlir::failure();
  }
  return success();
}

// A size that the type of one operand knows is known to the operation, whose operands are no casts to less then. Fusion
// has patterns of its own for tensors without values, which would replace one of a known size that was cast to an
// unknown one by such another, for ever; so while it fuses nothing makes such casts.
LogicalResult infer_sizes(mlir::ModuleOp module) {
  mlir::MLIRContext* context = module.getContext();
  mlir::RewritePatternSet patterns(context);
  context->getLoadedDialect<linalg::LinalgDialect>()->getCanonicalizationPatterns(patterns);
  context->getLoadedDialect<tensor::TensorDialect>()->getCanonicalizationPatterns(patterns);
  tensor::EmptyOp::getCanonicalizationPatterns(patterns, context);
  tensor::CastOp::getCanonicalizationPatterns(patterns, context);
  return rewrite_functions(module, std::move(patterns));
}

// Whether an operand would be longer than the loop that alone indexes it if the loops of one step were not there: so a
// window leaves the end of its tensor. Upstream's pattern makes operations of it that are not valid.
bool hides_a_rest(mlir::AffineExpr index, int64_t size, llvm::ArrayRef<int64_t> steps) {
  SmallVector<mlir::AffineExpr> kept;
  for (auto [loop, count] : llvm::enumerate(steps)) {
    kept.push_back(count == 1 ? mlir::getAffineConstantExpr(0, index.getContext())
                              : mlir::getAffineDimExpr(static_cast<unsigned>(loop), index.getContext()));
  }
  const auto alone = llvm::dyn_cast<mlir::AffineDimExpr>(index.replaceDims(kept));
  return alone && alone != index && size != steps[alone.getPosition()];
}

SmallVector<unsigned> dimensions_that_may_go(mlir::Operation* op) {
  auto structured = llvm::dyn_cast<linalg::GenericOp>(op);
  if (!structured) return linalg::ControlDropUnitDims().controlFn(op);
  const SmallVector<int64_t> steps = structured.getStaticLoopRanges();
  llvm::SmallBitVector may_go(static_cast<unsigned>(steps.size()), true);
  for (mlir::OpOperand& operand : op->getOpOperands()) {
    const mlir::AffineMap map = structured.getMatchingIndexingMap(&operand);
    for (auto [index, size] : llvm::zip_equal(map.getResults(), structured.getShape(&operand))) {
      if (!hides_a_rest(index, size, steps)) continue;
      index.walk([&](mlir::AffineExpr part) {
        if (auto loop = llvm::dyn_cast<mlir::AffineDimExpr>(part)) may_go.reset(loop.getPosition());
      });
    }
  }
  return SmallVector<unsigned>(may_go.set_bits());
}

// Dimensions of one element only hide that operations go along the same rows, or that a product has two sides.
LogicalResult drop_unit_dimensions(mlir::ModuleOp module) {
  mlir::RewritePatternSet patterns(module.getContext());
  linalg::ControlDropUnitDims control;
  control.controlFn = dimensions_that_may_go;
  linalg::populateFoldUnitExtentDimsPatterns(patterns, control);
  return rewrite_functions(module, std::move(patterns));
}

LogicalResult fuse(mlir::ModuleOp module, Products products) {
  mlir::MLIRContext* context = module.getContext();
  mlir::RewritePatternSet forms(context);
  linalg::populateElementwiseToLinalgConversionPatterns(forms);
  forms.add<Generalize, ForgetInitialValue>(context);
  populate_gather_patterns(forms);
  populate_stepped_sum_patterns(forms);
  if (products != Products::kAnywhere) populate_chosen_part_patterns(forms);
  if (products == Products::kOnCores) populate_phased_sum_patterns(forms);
  if (products == Products::kOnBlocks) forms.add<GeneralizeSingleWindows>(context);
  if (failed(rewrite_functions(module, std::move(forms)))) return mlir::failure();
  codegen::make_integers_total(module);
  if (failed(infer_sizes(module))) return mlir::failure();
  if (failed(drop_unit_dimensions(module))) return mlir::failure();
  if (products == Products::kOnBlocks) {
    mlir::RewritePatternSet layouts(context);
    populate_channels_last_patterns(layouts);
    populate_padded_channels_patterns(layouts);
    if (failed(rewrite_functions(module, std::move(layouts)))) return mlir::failure();
  }
  if (products != Products::kAnywhere) {
    mlir::RewritePatternSet layouts(context);
    populate_wide_column_patterns(layouts, products == Products::kOnCores ? Widened::kAll : Widened::kOfSeveralLoops);
    if (failed(rewrite_functions(module, std::move(layouts)))) return mlir::failure();
  }

  mlir::RewritePatternSet fusion(context);
  const bool on_blocks = products == Products::kOnBlocks;
  linalg::populateElementwiseOpsFusionPatterns(
      fusion, on_blocks ? codegen::fuses_in_program_on_blocks : codegen::fuses_in_program);
  if (on_blocks) {
    populate_computed_part_patterns(fusion);
    populate_repeat_patterns(fusion);
  }
  fusion.add<ReadFilledValue, ForgetInitialValue, ConstantToFill>(context);
  populate_narrowing_patterns(fusion);
  add_clean_ups(fusion);
  mlir::memref::populateResolveRankedShapedTypeResultDimsPatterns(fusion);
  return rewrite_functions(module, std::move(fusion));
}

LogicalResult clean_up(mlir::ModuleOp module) {
  mlir::PassManager passes(module.getContext());
  auto& functions = passes.nest<util::FuncOp>();
  functions.addPass(codegen::create_canonicalizer());
  functions.addPass(mlir::createCSEPass());
  return passes.run(module);
}

LogicalResult join_loops(mlir::ModuleOp module, Products products) {
  if (products == Products::kAnywhere) return success();
  if (failed(products == Products::kOnBlocks ? join_product_loops(module) : join_reduced_loops(module))) {
    return mlir::failure();
  }
  // What is written is made in the joined shape.
  mlir::RewritePatternSet patterns(module.getContext());
  linalg::FillOp::getCanonicalizationPatterns(patterns, module.getContext());
  tensor::populateFoldTensorEmptyPatterns(patterns);
  if (failed(rewrite_functions(module, std::move(patterns)))) return mlir::failure();
  return clean_up(module);
}

// The size of a tensor that an operation was given together with it.
Value known_size(Value source, unsigned dimension) {
  const auto type = llvm::cast<mlir::RankedTensorType>(source.getType());
  const unsigned position = type.getDynamicDimIndex(dimension);
  mlir::Operation* op = source.getDefiningOp();
  if (auto import = llvm::dyn_cast_or_null<hal::TensorImportOp>(op)) return import.getTargetDims()[position];
  const auto of_results = [&](mlir::ValueRange dims) {
    unsigned first = 0;
    for (const mlir::OpResult result : op->getResults()) {
      if (result == source) break;
      if (const auto tensor = llvm::dyn_cast<mlir::RankedTensorType>(result.getType())) {
        first += static_cast<unsigned>(tensor.getNumDynamicDims());
      }
    }
    return dims[first + position];
  };
  if (auto dispatch = llvm::dyn_cast_or_null<flow::DispatchOp>(op)) return of_results(dispatch.getResultDims());
  if (auto call = llvm::dyn_cast_or_null<flow::CallOp>(op)) return of_results(call.getResultDims());
  if (auto region = llvm::dyn_cast_or_null<flow::DispatchRegionOp>(op)) return of_results(region.getResultDims());
  if (auto dispatch = llvm::dyn_cast_or_null<hal::DispatchExternOp>(op)) return of_results(dispatch.getResultDims());
  return {};
}

struct ResolveSize : mlir::OpRewritePattern<tensor::DimOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tensor::DimOp op, mlir::PatternRewriter& rewriter) const override {
    const std::optional<int64_t> dimension = op.getConstantIndex();
    const auto type = llvm::dyn_cast<mlir::RankedTensorType>(op.getSource().getType());
    if (!dimension || !type || *dimension < 0 || *dimension >= type.getRank()) return mlir::failure();
    if (!type.isDynamicDim(static_cast<unsigned>(*dimension))) return mlir::failure();
    // What only passes its operand on.
    mlir::Operation* source = op.getSource().getDefiningOp();
    if (llvm::isa_and_nonnull<hal::TensorBarrierOp, util::OptimizationBarrierOp, flow::TensorTransferOp>(source)) {
      const Value operand = source->getOperand(llvm::cast<mlir::OpResult>(op.getSource()).getResultNumber());
      rewriter.replaceOpWithNewOp<tensor::DimOp>(op, operand, *dimension);
      return success();
    }
    const Value size = known_size(op.getSource(), static_cast<unsigned>(*dimension));
    if (!size) return mlir::failure();
    rewriter.replaceOp(op, size);
    return success();
  }
};

Workgroups workgroups_of(Products products) {
  if (products == Products::kAnywhere) return Workgroups::kAny;
  return products == Products::kOnCores ? Workgroups::kOnCores : Workgroups::kOnBlocks;
}

}  // namespace

LogicalResult normalize(mlir::ModuleOp module, Products products, RoomTest has_room) {
  if (failed(inline_calls(module))) return mlir::failure();
  if (products == Products::kOnCores && failed(write_out_brief_loops(module))) return mlir::failure();
  // Of a group as it will be: fused operations take other memory.
  const auto has_room_fused = [&](mlir::func::FuncOp group) {
    mlir::OwningOpRef<mlir::ModuleOp> scratch = mlir::ModuleOp::create(group.getLoc());
    auto copy = llvm::cast<mlir::func::FuncOp>(group->clone());
    group_module(*scratch).push_back(copy);
    return succeeded(clean_up(*scratch)) && succeeded(fuse(*scratch, products)) && succeeded(clean_up(*scratch)) &&
           has_room(copy);
  };
  if (has_room && failed(outline_small_loops(module, workgroups_of(products), has_room_fused))) return mlir::failure();
  if (failed(lower_loops_over_tensors(module))) return mlir::failure();
  if (failed(check_bounds(module))) return mlir::failure();
  if (failed(clean_up(module)) || failed(fuse(module, products))) return mlir::failure();
  if (failed(join_loops(module, products))) return mlir::failure();
  if (products == Products::kOnCores && failed(join_writers_of_results(module))) return mlir::failure();
  if (failed(split_reductions(module, products))) return mlir::failure();
  if (products == Products::kOnBlocks && failed(divide_products(module))) return mlir::failure();
  return clean_up(module);
}

LogicalResult resolve_sizes(mlir::ModuleOp module) {
  mlir::RewritePatternSet patterns(module.getContext());
  patterns.add<ResolveSize>(module.getContext());
  tensor::DimOp::getCanonicalizationPatterns(patterns, module.getContext());
  mlir::memref::populateResolveRankedShapedTypeResultDimsPatterns(patterns);
  if (failed(rewrite_functions(module, std::move(patterns)))) return mlir::failure();
  return clean_up(module);
}

}  // namespace baton::compiler_lite::schedule
