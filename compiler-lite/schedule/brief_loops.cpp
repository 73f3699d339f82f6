#include "compiler-lite/schedule/brief_loops.hpp"

#include <limits>
#include <utility>

#include "compiler-lite/codegen/bounded_rewrites.hpp"
#include "compiler-lite/codegen/fusion_rules.hpp"
#include "compiler-lite/dialects/util/dialect.hpp"
#include "compiler-lite/schedule/handed_on.hpp"
#include "compiler-lite/schedule/turns.hpp"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/IR/IRMapping.h"

namespace baton::compiler_lite::schedule {
namespace {

namespace arith = mlir::arith;
namespace linalg = mlir::linalg;
namespace scf = mlir::scf;
namespace tensor = mlir::tensor;
using llvm::SmallVector;
using mlir::OpBuilder;
using mlir::Operation;
using mlir::Value;

// A loop of more turns is worth its branches. About half of the steps go when operations are joined, and what is left is no
// longer than a kernel may be (codegen::kStepsMax).
constexpr double kTurnsMax = 16;
constexpr int64_t kStepsMax = 2 * codegen::kStepsMax;
// Elements of the longest tensor, at least: a loop over fewer is one kernel, turns and all (small_loops.hpp), where what
// several readers read would be one each.
constexpr int64_t kElementsMin = 1024;
// Elements of a slice: a few numbers that a turn takes from a table. Longer ones end what can be fused.
constexpr int64_t kSliceMax = 16;

bool is_few(mlir::Type type) {
  const auto tensor = llvm::dyn_cast<mlir::RankedTensorType>(type);
  return tensor && tensor.hasStaticShape() && tensor.getNumElements() <= kSliceMax;
}

// The same place, or what is the same along whole dimensions.
bool is_in_order(mlir::AffineMap map) {
  int64_t last = -1;
  return llvm::all_of(map.getResults(), [&](mlir::AffineExpr index) {
    const auto loop = llvm::dyn_cast<mlir::AffineDimExpr>(index);
    return loop && std::exchange(last, loop.getPosition()) < loop.getPosition();
  });
}

bool is_elementwise(linalg::LinalgOp op) {
  return op.hasPureTensorSemantics() && op.getNumReductionLoops() == 0 &&
         llvm::all_of(op.getIndexingMapsArray(), is_in_order) && !codegen::is_branchy(op) &&
         !op->walk([](tensor::ExtractOp) { return mlir::WalkResult::interrupt(); }).wasInterrupted();
}

bool may_be_written_out(Operation* op) {
  if (auto loops = llvm::dyn_cast<linalg::LinalgOp>(op)) return is_elementwise(loops);
  if (llvm::isa<tensor::EmptyOp>(op)) return true;
  if (llvm::isa<tensor::FromElementsOp, tensor::ExtractSliceOp, tensor::CollapseShapeOp, tensor::ExpandShapeOp>(op)) {
    return llvm::all_of(op->getResultTypes(), is_few);
  }
  if (llvm::isa<tensor::ExtractOp>(op)) return is_few(op->getOperand(0).getType());
  return op->getNumRegions() == 0 && llvm::isa<arith::ArithDialect, mlir::math::MathDialect>(op->getDialect());
}

// Whether the loop's condition says nothing but how many turns it makes.
bool is_counted(scf::WhileOp loop) {
  return hands_all_on(loop) && loop.getConditionOp().getCondition().getDefiningOp<arith::CmpIOp>() &&
         llvm::all_of(loop.getBeforeBody()->without_terminator(),
                      [](Operation& op) { return llvm::isa<arith::ArithDialect>(op.getDialect()); });
}

std::optional<int64_t> count_of(mlir::LoopLikeOpInterface loop) {
  if (auto unknown = llvm::dyn_cast<scf::WhileOp>(*loop); unknown && !is_counted(unknown)) return std::nullopt;
  if (!llvm::isa<scf::ForOp, scf::WhileOp>(*loop)) return std::nullopt;
  const std::optional<double> turns = turns_at_most(loop);
  return turns && *turns <= kTurnsMax ? std::optional(static_cast<int64_t>(*turns)) : std::nullopt;
}

mlir::Block& turn_of(mlir::LoopLikeOpInterface loop) { return loop.getLoopRegions().back()->front(); }

int64_t elements_of(mlir::ValueRange values) {
  int64_t elements = 0;
  for (const mlir::Type type : values.getTypes()) {
    const auto tensor = llvm::dyn_cast<mlir::RankedTensorType>(type);
    if (tensor && !tensor.hasStaticShape()) return std::numeric_limits<int64_t>::max();
    if (tensor) elements = std::max(elements, tensor.getNumElements());
  }
  return elements;
}

bool is_brief(mlir::LoopLikeOpInterface loop) {
  const std::optional<int64_t> turns = count_of(loop);
  if (!turns || elements_of(loop.getInits()) < kElementsMin) return false;
  int64_t steps = 0;
  for (Operation& op : turn_of(loop).without_terminator()) {
    if (!may_be_written_out(&op)) return false;
    steps += codegen::count_steps(&op);
  }
  return steps * *turns <= kStepsMax;
}

// Puts what the turns compute in the loop's place.
SmallVector<Operation*> write_out(mlir::LoopLikeOpInterface loop) {
  SmallVector<Operation*> written;
  OpBuilder builder(loop);
  mlir::Block& turn = turn_of(loop);
  auto counted = llvm::dyn_cast<scf::ForOp>(*loop);
  SmallVector<Value> carried(loop.getInits());
  Value number = counted ? counted.getLowerBound() : Value();
  const int64_t turns = *count_of(loop);
  for (int64_t i = 0; i < turns; ++i) {
    mlir::IRMapping values;
    if (counted) {
      values.map(counted.getInductionVar(), number);
      number = builder.createOrFold<arith::AddIOp>(loop.getLoc(), number, counted.getStep());
    }
    values.map(counted ? counted.getRegionIterArgs() : turn.getArguments(), carried);
    for (Operation& op : turn.without_terminator()) written.push_back(builder.clone(op, values));
    for (auto [value, next] : llvm::zip_equal(carried, turn.getTerminator()->getOperands())) {
      value = values.lookupOrDefault(next);
    }
  }
  loop->replaceAllUsesWith(carried);
  loop->erase();
  return written;
}

// One operation for what they compute together, where one reader reads each: an outer loop that has them inside is judged by
// the operations in it (small_loop_rules.hpp).
mlir::LogicalResult join(mlir::MLIRContext* context, llvm::ArrayRef<Operation*> written) {
  mlir::RewritePatternSet patterns(context);
  linalg::populateElementwiseToLinalgConversionPatterns(patterns);
  linalg::populateElementwiseOpsFusionPatterns(patterns, codegen::fuses_in_program);
  linalg::GenericOp::getCanonicalizationPatterns(patterns, context);
  tensor::populateFoldConstantExtractSlicePatterns(
      patterns, [](tensor::ExtractSliceOp slice) { return is_few(slice.getType()); });
  mlir::GreedyRewriteConfig config;
  config.strictMode = mlir::GreedyRewriteStrictness::ExistingAndNewOps;
  config.enableRegionSimplification = codegen::kRegionSimplification;
  config.maxIterations = mlir::GreedyRewriteConfig::kNoLimit;
  constexpr int64_t kRewritesForEach = 100;
  config.maxNumRewrites = kRewritesForEach * static_cast<int64_t>(written.size());
  return mlir::applyOpPatternsAndFold(written, mlir::FrozenRewritePatternSet(std::move(patterns)), config);
}

}  // namespace

mlir::LogicalResult write_out_brief_loops(mlir::ModuleOp module) {
  hand_all_on(module);
  for (util::FuncOp function : module.getOps<util::FuncOp>()) {
    // Inner ones first.
    SmallVector<mlir::LoopLikeOpInterface> loops;
    function.walk([&](mlir::LoopLikeOpInterface loop) { loops.push_back(loop); });
    for (mlir::LoopLikeOpInterface loop : loops) {
      if (loop->getParentOfType<linalg::LinalgOp>() || !is_brief(loop)) continue;
      const SmallVector<Operation*> written = write_out(loop);
      if (!written.empty() && mlir::failed(join(module.getContext(), written))) return mlir::failure();
    }
  }
  return mlir::success();
}

}  // namespace baton::compiler_lite::schedule
