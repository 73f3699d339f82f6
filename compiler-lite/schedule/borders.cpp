// FunctionScheduler: where tensors come in and leave: buffer views, fences, calls, returns, branches.
#include "compiler-lite/schedule/function_scheduler.hpp"
#include "compiler-lite/schedule/tensors.hpp"
#include "mlir/Interfaces/ControlFlowInterfaces.h"

namespace baton::compiler_lite {
namespace {

using llvm::SmallVector;
using mlir::failed;
using mlir::failure;
using mlir::Location;
using mlir::LogicalResult;
using mlir::Operation;
using mlir::RankedTensorType;
using mlir::success;
using mlir::Value;

RankedTensorType type_of(Value tensor) { return llvm::cast<RankedTensorType>(tensor.getType()); }

}  // namespace

std::optional<int32_t> element_type_number(mlir::Type type) {
  // Class and bits, hal/element_type.hpp.
  constexpr int32_t kInteger = 1, kSigned = 2, kUnsigned = 3, kFloat = 4, kBrainFloat = 5, kComplex = 6;
  if (llvm::isa<mlir::IndexType>(type)) return kInteger << 8 | 64;
  if (const auto complex = llvm::dyn_cast<mlir::ComplexType>(type)) {
    return kComplex << 8 | static_cast<int32_t>(2 * complex.getElementType().getIntOrFloatBitWidth());
  }
  if (!type.isIntOrFloat()) return std::nullopt;
  const auto bits = static_cast<int32_t>(type.getIntOrFloatBitWidth());
  if (bits != 1 && bits != 8 && bits != 16 && bits != 32 && bits != 64) return std::nullopt;
  if (type.isBF16()) return kBrainFloat << 8 | bits;
  if (type.isF16() || type.isF32() || type.isF64()) return kFloat << 8 | bits;
  if (llvm::isa<mlir::FloatType>(type)) return std::nullopt;
  return (type.isSignedInteger() ? kSigned : type.isUnsignedInteger() ? kUnsigned : kInteger) << 8 | bits;
}

LogicalResult FunctionScheduler::schedule_import(hal::TensorImportOp op) {
  const Location location = op.getLoc();
  const RankedTensorType type = type_of(op.getTarget());
  Value buffer = op.getSource();
  if (llvm::isa<hal::BufferViewType>(buffer.getType())) {
    const mlir::Type seen = op.getTargetEncoding() ? *op.getTargetEncoding() : mlir::Type(type);
    const auto tensor = llvm::dyn_cast<RankedTensorType>(seen);
    const auto number = element_type_number(tensor ? tensor.getElementType() : seen);
    if (!number) return op.emitOpError("imports elements that no buffer view has: ") << seen;
    SmallVector<Value> operands = {op.getSource(), hal_.bytes(builder_, location, op.getName().value_or("tensor")),
                                   hal_.i32(builder_, location, *number), hal_.i32(builder_, location, 1)};
    unsigned dynamic = 0;
    for (int64_t i = 0; i < type.getRank(); ++i) {
      if (!type.isDynamicDim(static_cast<unsigned>(i))) {
        operands.push_back(hal_.index(builder_, location, type.getDimSize(static_cast<unsigned>(i))));
        continue;
      }
      // A size that the view itself says needs no check.
      const Value size = op.getTargetDims()[dynamic++];
      auto asked = size.getDefiningOp<util::CallOp>();
      const bool of_view = asked && asked.getCallee() == "hal.buffer_view.dim" && asked.getOperand(0) == op.getSource();
      operands.push_back(of_view ? hal_.index(builder_, location, -1) : size);
    }
    hal_.call(builder_, location, "buffer_view.assert", operands, {static_cast<int32_t>(type.getRank())});
    buffer = hal_.call(builder_, location, "buffer_view.buffer", {op.getSource()});
  }
  Place placed = place_external(location, op.getTarget(), buffer, SmallVector<Value>(op.getTargetDims()));
  placed.memory->fence = op.getWaitFence();
  placed.memory->owned = op.getConsume();
  placed.memory->name = op.getName().value_or("input").str();
  placed.offset = op.getOffset();
  if (placed.offset) placed.memory->bytes = {};
  place(op.getTarget(), placed);
  return success();
}

LogicalResult FunctionScheduler::schedule_export(hal::TensorExportOp op) {
  const Location location = op.getLoc();
  const Value source = op.getSource();
  if (place_of(source).memory->pending) flush(op);
  await(location, {source});
  const Place placed = place_of(source);
  placed.memory->owned = false;
  if (llvm::isa<hal::BufferType>(op.getTarget().getType())) {
    op.getTarget().replaceAllUsesWith(exact_buffer(location, source));
    return success();
  }
  const mlir::Type seen = op.getSourceEncoding() ? *op.getSourceEncoding() : source.getType();
  const auto tensor = llvm::dyn_cast<RankedTensorType>(seen);
  const auto number = element_type_number(tensor ? tensor.getElementType() : seen);
  if (!number) return op.emitOpError("exports elements that no buffer view has: ") << seen;
  const Value buffer = exact_buffer(location, source);
  SmallVector<Value> operands = {buffer, hal_.index(builder_, location, 0),
                                 bytes_of_tensor(location, source.getType(), placed.sizes),
                                 hal_.i32(builder_, location, *number), hal_.i32(builder_, location, 1)};
  const SmallVector<Value> sizes = all_sizes(location, source);
  llvm::append_range(operands, sizes);
  const Value view =
      hal_.call(builder_, location, "buffer_view.create", operands, {static_cast<int32_t>(sizes.size())});
  op.getTarget().replaceAllUsesWith(view);
  return success();
}

// The tensor in the storage that the caller brought.
LogicalResult FunctionScheduler::schedule_alias(hal::TensorAliasOp op) {
  const Location location = op.getLoc();
  Value buffer = op.getStorage();
  if (llvm::isa<hal::BufferViewType>(buffer.getType())) {
    buffer = hal_.call(builder_, location, "buffer_view.buffer", {buffer});
  }
  const Place target = place_external(location, op.getResult(), buffer, SmallVector<Value>(op.getSourceDims()));
  target.memory->name = "storage";
  target.memory->fence = op.getWaitFence();
  Command command{.kind = Command::Kind::kCopy, .location = location};
  command.ranges.push_back(range_of(op.getSource(), true, false));
  command.ranges.push_back(range_of(location, op.getResult(), target, false, true));
  gather(std::move(command), "copy");
  target.memory->pending = true;  // As external memory, whose contents are on their way.
  place(op.getResult(), target);
  return success();
}

LogicalResult FunctionScheduler::schedule_barrier(hal::TensorBarrierOp op) {
  const Location location = op.getLoc();
  for (const Value source : op.getSources()) {
    const Memory& memory = *place_of(source).memory;
    if (memory.pending && memory.storage < 0) exact_buffer(location, source);  // No command makes it.
  }
  // Without tensors it is for everything that was begun.
  const bool any_pending =
      op.getSources().empty()
          ? !gathered_.commands.empty()
          : llvm::any_of(op.getSources(), [&](Value source) { return place_of(source).memory->pending; });
  // The recording may tell the fence itself when nothing else is waited for.
  bool all_gathered = any_pending;
  for (const Value source : op.getSources()) {
    const Memory& memory = *place_of(source).memory;
    all_gathered &= memory.pending || !memory.fence;
  }
  if (any_pending) flush(op, all_gathered ? op.getSignalFence() : Value());
  if (!all_gathered) {
    SmallVector<Value> fences;
    for (const Value source : op.getSources()) fences.push_back(place_of(source).memory->fence);
    const Value wait = join(location, fences);
    hal_.call(builder_, location, "queue.barrier", {device(), wait, op.getSignalFence()});
  }
  // Whoever gets the results waits for the fence; here they count as ready.
  for (const auto [source, result] : llvm::zip(op.getSources(), op.getResults())) {
    Place placed = place_of(source);
    Memory* ready = make_memory(placed.memory->name);
    ready->buffer = placed.memory->buffer;
    ready->bytes = placed.memory->bytes;
    ready->constant_global = placed.memory->constant_global;
    placed.memory = ready;
    place(result, placed);
  }
  return success();
}

LogicalResult FunctionScheduler::schedule_call(util::CallOp op) {
  const Location location = op.getLoc();
  dead_.push_back(op);
  auto callee = program_.module().lookupSymbol<util::FuncOp>(op.getCallee());
  if (!callee || callee.isExternal()) {
    return op.emitOpError("passes tensors to @") << op.getCallee() << ", which has no body and no wrapper";
  }
  flush(op);
  SmallVector<Value> tensors(llvm::make_filter_range(op.getOperands(), [](Value value) { return is_tensor(value); }));
  await(location, tensors);
  SmallVector<Value> operands;
  expand(location, op.getOperands(), operands);
  SmallVector<mlir::Type> types;
  expand_types(op.getResultTypes(), types);
  auto call = builder_.create<util::CallOp>(location, op.getCallee(), types, operands);
  unsigned next = 0;
  for (Value result : op.getResults()) {
    if (!is_tensor(result)) {
      result.replaceAllUsesWith(call.getResult(next++));
      continue;
    }
    const Value buffer = call.getResult(next++);
    SmallVector<Value> sizes;
    for (int64_t i = 0; i < type_of(result).getNumDynamicDims(); ++i) sizes.push_back(call.getResult(next++));
    place(result, place_external(location, result, buffer, sizes));
  }
  return success();
}

LogicalResult FunctionScheduler::schedule_return(Operation* op) {
  flush(op);
  if (!has_tensors(op)) return success();
  SmallVector<Value> tensors(llvm::make_filter_range(op->getOperands(), [](Value value) { return is_tensor(value); }));
  await(op->getLoc(), tensors);
  SmallVector<Value> operands;
  expand(op->getLoc(), op->getOperands(), operands);
  op->setOperands(operands);
  return success();
}

LogicalResult FunctionScheduler::schedule_branch(Operation* op) {
  flush(op);
  // Other blocks don't know the fences of this one.
  for (const std::unique_ptr<Memory>& memory : memories_) {
    if (memory->fence && memory->buffer && used_later(*memory)) await(op->getLoc(), memory->tensors.front());
  }
  auto branch = llvm::dyn_cast<mlir::BranchOpInterface>(op);
  for (unsigned i = 0; branch && i < op->getNumSuccessors(); ++i) {
    mlir::SuccessorOperands forwarded = branch.getSuccessorOperands(i);
    const SmallVector<Value> before(forwarded.getForwardedOperands());
    if (!llvm::any_of(before, [](Value value) { return is_tensor(value); })) continue;
    SmallVector<Value> operands;
    expand(op->getLoc(), before, operands);
    forwarded.getMutableForwardedOperands().assign(operands);
  }
  return success();
}

}  // namespace baton::compiler_lite
