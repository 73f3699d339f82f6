#include "compiler-lite/schedule/small_loop_rules.hpp"

#include <algorithm>
#include <cmath>

#include "compiler-lite/codegen/fusion_rules.hpp"
#include "compiler-lite/schedule/handed_on.hpp"
#include "compiler-lite/schedule/tensors.hpp"
#include "compiler-lite/schedule/turns.hpp"
#include "mlir/Analysis/DataFlow/ConstantPropagationAnalysis.h"
#include "mlir/Analysis/DataFlow/DeadCodeAnalysis.h"
#include "mlir/Analysis/DataFlow/IntegerRangeAnalysis.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"

namespace baton::compiler_lite::schedule {

namespace arith = mlir::arith;
namespace dataflow = mlir::dataflow;
namespace linalg = mlir::linalg;
namespace scf = mlir::scf;
namespace tensor = mlir::tensor;
using llvm::SmallVector;
using mlir::Operation;
using mlir::OpFoldResult;
using mlir::RankedTensorType;
using mlir::Value;

namespace {

// What an operation may take. More is worth a command of its own, which cores divide among themselves.
constexpr double kStepsOfCoreMax = 1 << 15;
// The same of blocks of threads, and of one of several that have a part each: these divide an operation already.
constexpr double kStepsOfBlockMax = 1 << 18, kStepsOfPartMax = 1 << 19;
// How many steps a block makes at once, and for how many its threads wait for memory and for each other.
constexpr double kStepsAtOnce = 32, kStepsOfMeeting = 256;

// Operations of a loop, with those in it, and those of them that read or write parts of tensors: bufferization takes time
// that grows with the square of their number, and with the third power of that of parts.
constexpr int64_t kOperationsMax = 1024, kPartsMax = 96;

bool is_number(mlir::Type type) {
  return type.isIndex() || type.isInteger(1) || (type.isIntOrFloat() && type.getIntOrFloatBitWidth() <= 64);
}

// Numbers, and tensors of them whose sizes are known.
bool has_known_types(Operation* op) {
  const auto is_known = [](mlir::Type type) {
    const auto tensor = llvm::dyn_cast<RankedTensorType>(type);
    return tensor ? tensor.hasStaticShape() && is_number(tensor.getElementType()) : is_number(type);
  };
  return llvm::all_of(op->getOperandTypes(), is_known) && llvm::all_of(op->getResultTypes(), is_known);
}

double elements_of(Operation* op) {
  double elements = 1;
  for (const mlir::Type type : op->getResultTypes()) {
    if (is_tensor(type)) elements = std::max(elements, double(llvm::cast<RankedTensorType>(type).getNumElements()));
  }
  return elements;
}

// Elements that are read or written, not those that stay where they are.
double moved_elements(Operation* op) {
  if (llvm::isa<tensor::EmptyOp, tensor::CastOp, tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::DimOp,
                tensor::ExtractSliceOp, tensor::InsertOp>(op)) {
    return 1;
  }
  if (auto slice = llvm::dyn_cast<tensor::InsertSliceOp>(op)) return double(slice.getSourceType().getNumElements());
  return elements_of(op);
}

double steps_of_loops(linalg::LinalgOp op) {
  double steps = double(codegen::count_steps(op));
  for (const int64_t range : op.getStaticLoopRanges()) steps *= double(range);
  return steps;
}

// What has code in kernels, and nothing but its result comes of it.
bool is_for_kernels(Operation* op) {
  if (llvm::isa<tensor::EmptyOp, tensor::DimOp, tensor::CastOp, tensor::ExpandShapeOp, tensor::CollapseShapeOp,
                tensor::ExtractOp, tensor::InsertOp, tensor::ExtractSliceOp, tensor::InsertSliceOp,
                tensor::FromElementsOp, tensor::SplatOp, tensor::GenerateOp, tensor::PadOp, tensor::ConcatOp>(op)) {
    return true;
  }
  return op->getNumRegions() == 0 &&
         llvm::isa<arith::ArithDialect, mlir::math::MathDialect, mlir::affine::AffineDialect>(op->getDialect());
}

}  // namespace

bool SmallLoopRules::is_short(Operation* loop) {
  int64_t count = 0, parts = 0;
  const auto each = [&](Operation* op) {
    if (llvm::isa<tensor::ExtractSliceOp, tensor::InsertSliceOp, tensor::InsertOp>(op)) ++parts;
    const bool is_long = ++count > kOperationsMax || parts > kPartsMax;
    return is_long ? mlir::WalkResult::interrupt() : mlir::WalkResult::advance();
  };
  return !loop->walk(each).wasInterrupted();
}

SmallLoopRules SmallLoopRules::of_parts(mlir::Operation* function, Workgroups workgroups) {
  SmallLoopRules rules(function, workgroups);
  rules.are_parts_ = true;
  return rules;
}

bool SmallLoopRules::has_all_inside(mlir::LoopLikeOpInterface loop) {
  const auto ended = loop->walk([&](Operation* op) {
    const bool is_own = !op->getParentOfType<linalg::LinalgOp>();
    return is_own && !has_indices_inside(op) ? mlir::WalkResult::interrupt() : mlir::WalkResult::advance();
  });
  return !ended.wasInterrupted();
}

std::optional<double> SmallLoopRules::steps_of_turn(mlir::LoopLikeOpInterface loop) {
  if (!is_short(loop) || !has_known_types(loop)) return std::nullopt;
  if (auto unknown = llvm::dyn_cast<scf::WhileOp>(*loop); unknown && !hands_all_on(unknown)) return std::nullopt;
  if (!llvm::isa<scf::ForOp, scf::WhileOp>(*loop)) return std::nullopt;
  double steps = 0;
  for (mlir::Region* region : loop.getLoopRegions()) {
    const std::optional<double> part = steps_of_block(region->front());
    if (!part) return std::nullopt;
    steps += *part;
  }
  return steps;
}

std::optional<double> SmallLoopRules::steps_of_block(mlir::Block& block) {
  double steps = 1;
  for (Operation& op : block.without_terminator()) {
    const std::optional<double> part = steps_of(&op);
    if (!part) return std::nullopt;
    steps += *part;
  }
  return steps;
}

std::optional<double> SmallLoopRules::steps_of(Operation* op) {
  if (!has_known_types(op)) return std::nullopt;
  if (auto loop = llvm::dyn_cast<mlir::LoopLikeOpInterface>(op)) {
    const std::optional<double> each = steps_of_turn(loop);
    const std::optional<double> turns = each ? turns_at_most(loop) : std::nullopt;
    return turns ? std::optional(*turns * *each) : std::nullopt;
  }
  if (auto branch = llvm::dyn_cast<scf::IfOp>(op)) {
    std::optional<double> steps = steps_of_block(*branch.thenBlock());
    if (!branch.elseBlock() || !steps) return steps;
    const std::optional<double> others = steps_of_block(*branch.elseBlock());
    return others ? std::optional(std::max(*steps, *others)) : std::nullopt;
  }
  auto loops = llvm::dyn_cast<linalg::LinalgOp>(op);
  if (loops ? !loops.hasPureTensorSemantics() : !is_for_kernels(op)) return std::nullopt;
  const double steps = loops ? steps_of_loops(loops) : moved_elements(op) * double(codegen::count_steps(op));
  const std::optional<double> in_workgroup = steps_in_workgroup(steps);
  return in_workgroup && (are_parts_ || has_indices_inside(op)) ? in_workgroup : std::nullopt;
}

std::optional<double> SmallLoopRules::steps_in_workgroup(double steps) const {
  const double in_block = steps / kStepsAtOnce + (steps > 1 ? kStepsOfMeeting : 1);
  if (workgroups_ != Workgroups::kOnCores && steps > (are_parts_ ? kStepsOfPartMax : kStepsOfBlockMax))
    return std::nullopt;
  if (workgroups_ == Workgroups::kOnBlocks || workgroups_ == Workgroups::kWithAtomics) return in_block;
  if (steps > kStepsOfCoreMax) return std::nullopt;
  return workgroups_ == Workgroups::kOnCores ? steps : std::max(steps, in_block);
}

bool SmallLoopRules::has_indices_inside(Operation* op) {
  const auto are_inside = [&](RankedTensorType whole, mlir::OperandRange indices) {
    for (auto [index, size] : llvm::zip_equal(indices, whole.getShape())) {
      if (!is_inside(index, 0, size)) return false;
    }
    return true;
  };
  const auto is_slice_inside = [&](RankedTensorType whole, mlir::OffsetSizeAndStrideOpInterface slice) {
    const SmallVector<OpFoldResult> offsets = slice.getMixedOffsets(), sizes = slice.getMixedSizes(),
                                    strides = slice.getMixedStrides();
    for (size_t i = 0; i < offsets.size(); ++i) {
      const auto count = mlir::getConstantIntValue(sizes[i]), stride = mlir::getConstantIntValue(strides[i]);
      if (!count || !stride || *count < 1 || *stride < 1) return false;
      if (!is_inside(offsets[i], (*count - 1) * *stride, whole.getDimSize(static_cast<unsigned>(i)))) return false;
    }
    return true;
  };
  if (auto read = llvm::dyn_cast<tensor::ExtractOp>(op)) {
    return are_inside(llvm::cast<RankedTensorType>(read.getTensor().getType()), read.getIndices());
  }
  if (auto write = llvm::dyn_cast<tensor::InsertOp>(op)) {
    return are_inside(llvm::cast<RankedTensorType>(write.getDest().getType()), write.getIndices());
  }
  if (auto read = llvm::dyn_cast<tensor::ExtractSliceOp>(op)) return is_slice_inside(read.getSourceType(), read);
  if (auto write = llvm::dyn_cast<tensor::InsertSliceOp>(op)) return is_slice_inside(write.getDestType(), write);
  return true;  // The body of an operation holds its indices inside (codegen/index_checks.hpp).
}

bool SmallLoopRules::is_inside(OpFoldResult index, int64_t behind, int64_t size) {
  if (const auto known = mlir::getConstantIntValue(index)) return *known >= 0 && *known + behind < size;
  if (!ranges_) {
    ranges_ = std::make_unique<mlir::DataFlowSolver>();
    ranges_->load<dataflow::DeadCodeAnalysis>();
    ranges_->load<dataflow::SparseConstantPropagation>();
    ranges_->load<dataflow::IntegerRangeAnalysis>();
    if (mlir::failed(ranges_->initializeAndRun(function_))) return false;
  }
  const auto* state = ranges_->lookupState<dataflow::IntegerValueRangeLattice>(llvm::cast<Value>(index));
  if (!state || state->getValue().isUninitialized()) return false;
  const mlir::ConstantIntRanges& range = state->getValue().getValue();
  return range.smin().sge(0) && range.smax().slt(size - behind);
}

}  // namespace baton::compiler_lite::schedule
