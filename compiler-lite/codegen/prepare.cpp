#include "compiler-lite/codegen/prepare.hpp"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/MemRef/Transforms/Transforms.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace baton::compiler_lite::codegen {
namespace {

namespace arith = mlir::arith;
namespace bufferization = mlir::bufferization;
namespace linalg = mlir::linalg;
namespace tensor = mlir::tensor;
using mlir::Value;

// Products keep their names, by which contraction.cpp knows them.
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

// Padding as an operation that tiling and bufferization treat like any other: inside the source its element, outside
// the value of the region.
struct PadToGeneric : mlir::OpRewritePattern<tensor::PadOp> {
  using OpRewritePattern::OpRewritePattern;

  mlir::LogicalResult matchAndRewrite(tensor::PadOp pad, mlir::PatternRewriter& rewriter) const override {
    const mlir::Location location = pad.getLoc();
    const auto type = pad.getResultType();
    mlir::ReifiedRankedShapedTypeDims sizes;
    if (mlir::failed(mlir::reifyResultShapes(rewriter, pad, sizes))) return mlir::failure();
    const Value empty = rewriter.create<tensor::EmptyOp>(location, sizes[0], type.getElementType());
    const unsigned rank = static_cast<unsigned>(type.getRank());
    const llvm::SmallVector<mlir::utils::IteratorType> loops(rank, mlir::utils::IteratorType::parallel);
    auto generic = rewriter.create<linalg::GenericOp>(
        location, empty.getType(), mlir::ValueRange(), empty, rewriter.getMultiDimIdentityMap(rank), loops,
        [&](mlir::OpBuilder& builder, mlir::Location at, mlir::ValueRange) { write_element(builder, at, pad); });
    rewriter.replaceOpWithNewOp<tensor::CastOp>(pad, type, generic.getResult(0));
    return mlir::success();
  }

  static void write_element(mlir::OpBuilder& builder, mlir::Location location, tensor::PadOp pad) {
    llvm::SmallVector<Value> here, source;
    Value inside = builder.create<arith::ConstantIntOp>(location, 1, 1);
    const llvm::SmallVector<mlir::OpFoldResult> low = pad.getMixedLowPad();
    for (unsigned d = 0; d < low.size(); ++d) {
      here.push_back(builder.create<linalg::IndexOp>(location, d));
      const Value before = mlir::getValueOrCreateConstantIndexOp(builder, location, low[d]);
      source.push_back(builder.create<arith::SubIOp>(location, here.back(), before));
      const Value size = builder.create<tensor::DimOp>(location, pad.getSource(), d);
      // Unsigned: what lies before the source is a large number.
      const Value fits = builder.create<arith::CmpIOp>(location, arith::CmpIPredicate::ult, source.back(), size);
      inside = builder.create<arith::AndIOp>(location, inside, fits);
    }
    auto choice = builder.create<mlir::scf::IfOp>(
        location, inside,
        [&](mlir::OpBuilder& then, mlir::Location at) {
          const Value value = then.create<tensor::ExtractOp>(at, pad.getSource(), source);
          then.create<mlir::scf::YieldOp>(at, value);
        },
        [&](mlir::OpBuilder& otherwise, mlir::Location at) {
          mlir::IRMapping values;
          values.map(pad.getRegion().getArguments(), here);
          mlir::Block& block = pad.getRegion().front();
          for (mlir::Operation& op : block.without_terminator()) otherwise.clone(op, values);
          otherwise.create<mlir::scf::YieldOp>(at, values.lookupOrDefault(block.getTerminator()->getOperand(0)));
        });
    builder.create<linalg::YieldOp>(location, choice.getResult(0));
  }
};

struct SplatToFill : mlir::OpRewritePattern<tensor::SplatOp> {
  using OpRewritePattern::OpRewritePattern;
  mlir::LogicalResult matchAndRewrite(tensor::SplatOp splat, mlir::PatternRewriter& rewriter) const override {
    const Value empty = rewriter.create<tensor::EmptyOp>(splat.getLoc(), splat.getType(), splat.getDynamicSizes());
    rewriter.replaceOpWithNewOp<linalg::FillOp>(splat, splat.getInput(), empty);
    return mlir::success();
  }
};

// A choice for each element, as padding makes it, would be made again for each reader.
bool is_branchy(linalg::LinalgOp op) {
  return op->walk([](mlir::scf::IfOp) { return mlir::WalkResult::interrupt(); }).wasInterrupted();
}

// A producer with several readers is computed once. Writing it out is no reading: a result of the kernel that others
// read on is computed for itself and for them.
bool may_fuse(mlir::OpOperand* operand) {
  auto producer = llvm::dyn_cast_or_null<linalg::LinalgOp>(operand->get().getDefiningOp());
  if (!producer) return true;
  if (is_branchy(producer)) return false;
  mlir::Operation* consumer = operand->getOwner();
  return llvm::all_of(producer->getUsers(), [&](mlir::Operation* user) {
    return user == consumer || llvm::isa<tensor::DimOp, bufferization::MaterializeInDestinationOp>(user);
  });
}

bool is_read_only(Value value) {
  auto view = value.getDefiningOp<bufferization::ToTensorOp>();
  return view && !view.getWritable();
}

// A destination that holds what `value` holds (or nothing in particular), in memory that may be written.
Value make_destination(mlir::OpBuilder& builder, Value value, bool needs_contents) {
  const mlir::Location location = value.getLoc();
  const auto type = llvm::cast<mlir::RankedTensorType>(value.getType());
  const Value empty =
      builder.create<tensor::EmptyOp>(location, tensor::getMixedSizes(builder, location, value), type.getElementType());
  if (!needs_contents) return empty;
  const mlir::AffineMap identity = builder.getMultiDimIdentityMap(static_cast<unsigned>(type.getRank()));
  const llvm::SmallVector<mlir::utils::IteratorType> loops(static_cast<size_t>(type.getRank()),
                                                           mlir::utils::IteratorType::parallel);
  // Element by element from the body: a copy that reads its input like other operations counts as doing nothing, and
  // would be folded away.
  auto copy = builder.create<linalg::GenericOp>(location, empty.getType(), mlir::ValueRange(), empty, identity, loops,
                                                [&](mlir::OpBuilder& body, mlir::Location at, mlir::ValueRange) {
                                                  llvm::SmallVector<Value> here;
                                                  for (unsigned d = 0; d < type.getRank(); ++d)
                                                    here.push_back(body.create<linalg::IndexOp>(at, d));
                                                  body.create<linalg::YieldOp>(
                                                      at, body.create<tensor::ExtractOp>(at, value, here).getResult());
                                                });
  return copy.getResult(0);
}

// Arguments that no result is tied to must not be overwritten. Bufferization would copy them into memory of their own;
// what is copied into a destination instead ends up in the result's memory.
void copy_read_only_destinations(mlir::func::FuncOp kernel) {
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
  for (mlir::OpOperand* operand : operands) {
    if (!is_read_only(operand->get())) continue;
    mlir::OpBuilder builder(operand->getOwner());
    auto op = llvm::dyn_cast<linalg::LinalgOp>(operand->getOwner());
    operand->set(make_destination(builder, operand->get(), !op || op.payloadUsesValueFromOperand(operand)));
  }
}

}  // namespace

mlir::LogicalResult prepare_group(mlir::func::FuncOp kernel) {
  mlir::MLIRContext* context = kernel.getContext();
  mlir::RewritePatternSet forms(context);
  linalg::populateElementwiseToLinalgConversionPatterns(forms);
  linalg::populateDecomposeConvolutionPatterns(forms);
  forms.add<Generalize, InDestinationStyle<tensor::FromElementsOp>, InDestinationStyle<tensor::GenerateOp>,
            PadToGeneric, SplatToFill>(context);
  tensor::populateDecomposeTensorConcatPatterns(forms);
  mlir::memref::populateResolveRankedShapedTypeResultDimsPatterns(forms);
  if (mlir::failed(mlir::applyPatternsAndFoldGreedily(kernel, std::move(forms)))) return mlir::failure();
  copy_read_only_destinations(kernel);

  mlir::RewritePatternSet fusion(context);
  linalg::populateElementwiseOpsFusionPatterns(fusion, may_fuse);
  linalg::populateEraseUnusedOperandsAndResultsPatterns(fusion);
  linalg::GenericOp::getCanonicalizationPatterns(fusion, context);
  tensor::DimOp::getCanonicalizationPatterns(fusion, context);
  tensor::EmptyOp::getCanonicalizationPatterns(fusion, context);
  tensor::CastOp::getCanonicalizationPatterns(fusion, context);
  mlir::memref::populateResolveRankedShapedTypeResultDimsPatterns(fusion);
  return mlir::applyPatternsAndFoldGreedily(kernel, std::move(fusion));
}

}  // namespace baton::compiler_lite::codegen
