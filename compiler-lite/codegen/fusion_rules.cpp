#include "compiler-lite/codegen/fusion_rules.hpp"

#include "compiler-lite/codegen/product.hpp"
#include "hal/interface/numbers.hpp"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/RegionUtils.h"

namespace baton::compiler_lite::codegen {
namespace {

namespace arith = mlir::arith;
namespace linalg = mlir::linalg;
namespace tensor = mlir::tensor;

// Instructions that may be done once for each of a few readers.
constexpr int64_t kCheap = 3;
// Instructions that number elements, for any count of readers.
constexpr int64_t kFewNumbers = 6;

bool has_only(linalg::LinalgOp op, llvm::function_ref<bool(mlir::Operation&)> allows) {
  return op->getNumRegions() == 1 && op.getNumReductionLoops() == 0 &&
         llvm::all_of(op->getRegion(0).front().without_terminator(), allows);
}

// Arithmetic that takes an instruction.
bool is_quick(mlir::Operation& op) {
  return op.getNumRegions() == 0 &&
         !llvm::isa<arith::DivFOp, arith::RemFOp, arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp,
                    tensor::ExtractOp>(op) &&
         (!llvm::isa<mlir::math::MathDialect>(op.getDialect()) || llvm::isa<mlir::math::AbsFOp>(op));
}

enum class Within { kProgram, kProgramOnBlocks, kKernel };

bool is_cheap(linalg::LinalgOp producer) {
  return has_only(producer, is_quick) && llvm::range_size(producer->getRegion(0).front()) <= kCheap + 1;
}

// Numbers made of the place alone, as an iota is: to read them from memory costs more than to count.
bool is_numbering(linalg::LinalgOp op) {
  return op.getNumDpsInputs() == 0 && llvm::range_size(op->getRegion(0).front()) <= kFewNumbers + 1 &&
         has_only(op, [](mlir::Operation& inner) {
           return is_quick(inner) && llvm::isa<arith::ArithDialect, linalg::LinalgDialect>(*inner.getDialect());
         });
}

// What each of its readers does for itself. A product stays one, and reads numbers from memory.
bool is_done_again(linalg::LinalgOp producer, mlir::OpOperand* operand) {
  if (is_free(producer)) return true;
  auto reader = llvm::dyn_cast<linalg::LinalgOp>(operand->getOwner());
  return reader && !is_product(reader) && is_numbering(producer);
}

// Whether every loop of the reader that goes round more than once reads another element.
bool is_read_once(mlir::OpOperand* operand) {
  auto reader = llvm::cast<linalg::LinalgOp>(operand->getOwner());
  const mlir::AffineMap map = reader.getMatchingIndexingMap(operand);
  const llvm::SmallVector<int64_t> sizes = reader.getStaticLoopRanges();
  return llvm::all_of(llvm::seq(0u, reader.getNumLoops()), [&](unsigned loop) {
    const auto alone = mlir::getAffineDimExpr(loop, map.getContext());
    return sizes[loop] == 1 || llvm::is_contained(map.getResults(), alone);
  });
}

// Upstream's fusion lets a producer add to its own result; in more loops than it had it would add once for each.
bool reads_its_result(linalg::LinalgOp op) {
  return llvm::any_of(op.getDpsInitsMutable(),
                      [&](mlir::OpOperand& init) { return op.payloadUsesValueFromOperand(&init); });
}

// Elements from which on it pays that a kernel of few numbers runs first.
constexpr int64_t kRepeatedMin = 1 << 15;

// Whether loops around those that index the operand, as a channel's last dimension, have its elements computed again and
// again. Where all others are inside, a loop computes an element before it begins.
bool is_repeated_outside(mlir::OpOperand* operand) {
  auto reader = llvm::cast<linalg::LinalgOp>(operand->getOwner());
  const mlir::AffineMap map = reader.getMatchingIndexingMap(operand);
  int64_t elements = 1, outside = 1, last = 1;
  for (auto [loop, size] : llvm::enumerate(reader.getStaticLoopRanges())) {
    const int64_t count = mlir::ShapedType::isDynamic(size) ? 1 : size;
    elements *= count;
    if (map.isFunctionOfDim(static_cast<unsigned>(loop))) {
      if (count > 1) last = outside;
    } else {
      outside *= count;
    }
  }
  return last > 1 && elements >= kRepeatedMin;
}

// Into what only goes element by element anything goes that is read there alone, but for what loops would compute again;
// sums and products, which go over elements again and again, take what costs nothing to do again.
bool saves_work(linalg::LinalgOp producer, mlir::OpOperand* operand, Within within) {
  auto reader = llvm::dyn_cast<linalg::LinalgOp>(operand->getOwner());
  if (!reader) return true;
  if (reader.getNumReductionLoops() == 0) {
    return within != Within::kProgram || is_cheap(producer) || !is_repeated_outside(operand);
  }
  if (is_product(reader)) return is_free(producer);
  return is_read_once(operand) || is_cheap(producer);
}

void add_reads(mlir::Operation* op, llvm::SmallPtrSetImpl<mlir::Value>& read) {
  read.insert(op->operand_begin(), op->operand_end());
  llvm::SetVector<mlir::Value> inside;
  mlir::getUsedValuesDefinedAbove(op->getRegions(), inside);
  read.insert(inside.begin(), inside.end());
}

// Threads of a block take their branches one by one, as the elements of a kernel's own: what chooses between parts may be
// computed where its elements are read, each once. Upstream's fusion gives indices of loops new places only where no branch
// holds them.
bool chooses_for(linalg::LinalgOp producer, mlir::OpOperand* operand) {
  auto reader = llvm::dyn_cast<linalg::LinalgOp>(operand->getOwner());
  return reader && reader.getNumReductionLoops() == 0 && is_read_once(operand) && !has_index_in_branch(producer);
}

// What no cache of a core holds, in bytes, and how many readers compute it themselves.
constexpr int64_t kLargeMin = 1 << 20, kReadersMax = 3;

bool is_large(mlir::Value tensor) {
  const auto type = llvm::dyn_cast<mlir::RankedTensorType>(tensor.getType());
  return type && type.hasStaticShape() && type.getElementType().isIntOrFloat() &&
         type.getNumElements() * type.getElementTypeBitWidth() >= kLargeMin * 8;
}

// Whether the operand varies with loops that stand behind others that it doesn't vary with, as what belongs to channels does.
// Rows that begin with what they have in common are one kernel's (schedule/row_groups.hpp).
bool belongs_to_columns(linalg::LinalgOp op, mlir::OpOperand* operand) {
  const mlir::AffineMap map = op.getMatchingIndexingMap(operand);
  bool has_gap = false;
  for (auto [loop, size] : llvm::enumerate(op.getStaticLoopRanges())) {
    const bool varies = map.isFunctionOfDim(static_cast<unsigned>(loop));
    if (varies && has_gap) return true;
    has_gap |= !varies && size != 1;
  }
  return false;
}

// A few instructions on one large tensor and what belongs to its columns, read a few times: each reader computes it again,
// which takes as long as reading it from memory, and nothing writes it there.
bool is_done_by_readers(linalg::LinalgOp producer) {
  if (producer->getNumResults() != 1 || !is_large(producer->getResult(0)) || !is_cheap(producer)) return false;
  int64_t large = 0;
  bool has_columns = false;
  for (mlir::OpOperand* input : producer.getDpsInputOperands()) {
    large += is_large(input->get()) ? 1 : 0;
    has_columns |= belongs_to_columns(producer, input);
  }
  const llvm::SmallPtrSet<mlir::Operation*, 4> users(producer->user_begin(), producer->user_end());
  return large == 1 && has_columns && users.size() <= kReadersMax &&
         llvm::all_of(producer->getUses(), [&](mlir::OpOperand& use) {
           auto reader = llvm::dyn_cast<linalg::LinalgOp>(use.getOwner());
           return reader && reader->getBlock() == producer->getBlock() && !is_product(reader) && is_read_once(&use);
         });
}

// A kernel reads what its group reads, however its operations are fused; in a program a reader may grow too wide.
bool fuses(mlir::OpOperand* operand, Within within) {
  const bool in_kernel = within == Within::kKernel;
  auto producer = llvm::dyn_cast_or_null<linalg::LinalgOp>(operand->get().getDefiningOp());
  if (!producer) return true;
  if (reads_its_result(producer)) return false;
  // Once before a loop, not in each of its turns.
  if (producer->getParentRegion() != operand->getOwner()->getParentRegion()) return is_free(producer);
  if (is_done_again(producer, operand)) return true;
  if (!saves_work(producer, operand, within)) return false;
  if (is_branchy(producer) && !(within == Within::kProgramOnBlocks && chooses_for(producer, operand))) return false;
  if (!in_kernel && !stays_small(producer, operand->getOwner(), operand->get())) return false;
  if (within == Within::kProgram && is_done_by_readers(producer)) return true;
  return llvm::all_of(producer->getUsers(), [&](mlir::Operation* user) {
    return user == operand->getOwner() || llvm::isa<tensor::DimOp>(user) ||
           (in_kernel && llvm::isa<mlir::bufferization::MaterializeInDestinationOp>(user));
  });
}

}  // namespace

bool is_narrow(const llvm::SmallPtrSetImpl<mlir::Value>& read) {
  constexpr int64_t kMax = hal::kDispatchBindingsMax * 3 / 4;
  static_assert(hal::kDispatchConstantsMax >= hal::kDispatchBindingsMax);
  int64_t tensors = 0, words = 0;
  for (const mlir::Value value : read) {
    const auto type = llvm::dyn_cast<mlir::RankedTensorType>(value.getType());
    tensors += type ? 1 : 0;
    words += type ? type.getNumDynamicDims() : 2;  // Of a scalar, at most.
  }
  return tensors <= kMax && words <= kMax;
}

int64_t count_steps(mlir::Operation* op) {
  constexpr int64_t kDivision = 4, kFunction = 24;
  int64_t steps = 0;
  op->walk([&](mlir::Operation* inner) {
    if (is_quick(*inner)) {
      ++steps;
    } else if (llvm::isa<mlir::math::MathDialect>(inner->getDialect())) {
      steps += kFunction;
    } else {
      steps += kDivision;
    }
  });
  return steps;
}

bool is_free(linalg::LinalgOp producer) {
  return has_only(producer, [](mlir::Operation& op) {
    return op.hasTrait<mlir::OpTrait::ConstantLike>() ||
           llvm::isa<arith::ExtFOp, arith::ExtSIOp, arith::ExtUIOp, arith::SIToFPOp, arith::UIToFPOp>(op);
  });
}

bool is_branchy(linalg::LinalgOp op) {
  return op->walk([](mlir::scf::IfOp) { return mlir::WalkResult::interrupt(); }).wasInterrupted();
}

bool has_index_in_branch(linalg::LinalgOp op) {
  return op
      ->walk([&](linalg::IndexOp index) {
        return index->getParentOp() == op ? mlir::WalkResult::advance() : mlir::WalkResult::interrupt();
      })
      .wasInterrupted();
}

bool stays_small(linalg::LinalgOp producer, mlir::Operation* reader, mlir::Value read) {
  llvm::SmallPtrSet<mlir::Value, 16> reads;
  add_reads(producer, reads);
  add_reads(reader, reads);
  reads.erase(read);
  return is_narrow(reads) && count_steps(producer) + count_steps(reader) <= kStepsMax;
}

bool fuses_in_program(mlir::OpOperand* operand) { return fuses(operand, Within::kProgram); }
bool fuses_in_program_on_blocks(mlir::OpOperand* operand) { return fuses(operand, Within::kProgramOnBlocks); }
bool fuses_in_kernel(mlir::OpOperand* operand) { return fuses(operand, Within::kKernel); }

}  // namespace baton::compiler_lite::codegen
