#include "compiler-lite/schedule/boundary.hpp"

#include <tuple>

#include "compiler-lite/schedule/element_numbers.hpp"
#include "compiler-lite/schedule/tensors.hpp"
#include "mlir/Interfaces/ControlFlowInterfaces.h"

namespace baton::compiler_lite::schedule {
namespace {

using llvm::SmallVector;
using mlir::Location;
using mlir::LogicalResult;
using mlir::Operation;
using mlir::RankedTensorType;
using mlir::success;
using mlir::Value;

RankedTensorType type_of(Value tensor) { return llvm::cast<RankedTensorType>(tensor.getType()); }

void expand_types(HalCalls& hal, mlir::TypeRange types, llvm::SmallVectorImpl<mlir::Type>& out) {
  for (const mlir::Type type : types) {
    const auto tensor = llvm::dyn_cast<RankedTensorType>(type);
    out.push_back(tensor ? hal.buffer_type() : type);
    if (tensor) out.append(static_cast<size_t>(tensor.getNumDynamicDims()), mlir::IndexType::get(type.getContext()));
  }
}

}  // namespace

// A tensor as an argument is its buffer and its sizes.
void Boundary::convert_arguments(mlir::Block& block) {
  const SmallVector<mlir::BlockArgument> arguments(block.getArguments());
  for (mlir::BlockArgument argument : arguments) {
    if (!is_tensor(argument)) continue;
    const Location location = argument.getLoc();
    builder_.setInsertionPointToStart(&block);
    unsigned next = argument.getArgNumber() + 1;
    const Value buffer = block.insertArgument(next++, hal_.buffer_type(), location);
    SmallVector<Value> sizes;
    for (int64_t i = 0; i < type_of(argument).getNumDynamicDims(); ++i) {
      sizes.push_back(block.insertArgument(next++, builder_.getIndexType(), location));
    }
    Place placed = places_.external(location, argument, buffer, sizes);
    placed.memory->owned = places_.ownership().owns(argument);
    places_.place(argument, placed);
    dead_arguments_.push_back(argument);
  }
}

// The function's own type, once nothing uses the tensors.
void Boundary::convert_signature() {
  util::FuncOp function = function_.op;
  for (mlir::BlockArgument argument : llvm::reverse(dead_arguments_)) {
    argument.getOwner()->eraseArgument(argument.getArgNumber());
  }
  if (has_tensor_types(function.getFunctionType())) {
    function.removeArgAttrsAttr();
    function.removeResAttrsAttr();
  }
  SmallVector<mlir::Type> results;
  expand_types(hal_, function.getResultTypes(), results);
  function.setFunctionType(builder_.getFunctionType(function.getBody().getArgumentTypes(), results));
}

LogicalResult Boundary::schedule_import(hal::TensorImportOp op) {
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
    memory_bounds_.note(type, op.getTargetDims());
    if (seen == type && type.hasStaticShape()) passed_[buffer] = {op.getSource(), type};
  }
  Value ready = op.getWaitFence();
  if (function_.program.devices().several()) std::tie(buffer, ready) = take(op, buffer);
  Place placed = places_.external(location, op.getTarget(), buffer, SmallVector<Value>(op.getTargetDims()));
  placed.memory->fence = ready;
  placed.memory->owned = op.getConsume();
  placed.memory->name = op.getName().value_or("input").str();
  placed.offset = op.getOffset();
  if (placed.offset) placed.memory->bytes = {};
  places_.place(op.getTarget(), placed);
  return success();
}

// What the caller passed may be on any device: the buffer on the one where the tensor is, and when it is there.
std::pair<Value, Value> Boundary::take(hal::TensorImportOp op, Value buffer) {
  const Location location = op.getLoc();
  const Value wait = op.getWaitFence() ? op.getWaitFence() : hal_.null(builder_, location, hal_.fence_type());
  const Value device = function_.device(function_.number_of(op.getTarget()));
  const Value taken = hal_.call(builder_, location, "queue.take", {device, wait, buffer});
  return {taken, taken.getDefiningOp()->getResult(1)};
}

LogicalResult Boundary::schedule_export(hal::TensorExportOp op) {
  const Location location = op.getLoc();
  const Value source = op.getSource();
  if (places_.of(source).memory->pending) flusher_.flush(op);
  flusher_.await(location, {source});
  const Place placed = places_.of(source);
  placed.memory->owned = false;
  if (llvm::isa<hal::BufferType>(op.getTarget().getType())) {
    op.getTarget().replaceAllUsesWith(flusher_.exact_buffer(location, source));
    return success();
  }
  const mlir::Type seen = op.getSourceEncoding() ? *op.getSourceEncoding() : source.getType();
  const auto tensor = llvm::dyn_cast<RankedTensorType>(seen);
  const auto number = element_type_number(tensor ? tensor.getElementType() : seen);
  if (!number) return op.emitOpError("exports elements that no buffer view has: ") << seen;
  const Value buffer = flusher_.exact_buffer(location, source);
  if (const Passed passed = passed_.lookup(buffer); passed.view && passed.type == seen) {
    op.getTarget().replaceAllUsesWith(passed.view);
    return success();
  }
  SmallVector<Value> operands = {buffer, hal_.index(builder_, location, 0),
                                 places_.bytes_of(location, source.getType(), placed.sizes),
                                 hal_.i32(builder_, location, *number), hal_.i32(builder_, location, 1)};
  const SmallVector<Value> sizes = places_.all_sizes(location, source);
  llvm::append_range(operands, sizes);
  const Value view =
      hal_.call(builder_, location, "buffer_view.create", operands, {static_cast<int32_t>(sizes.size())});
  op.getTarget().replaceAllUsesWith(view);
  return success();
}

// The tensor in the storage that the caller brought.
LogicalResult Boundary::schedule_alias(hal::TensorAliasOp op) {
  const Location location = op.getLoc();
  Value buffer = op.getStorage();
  if (llvm::isa<hal::BufferViewType>(buffer.getType())) {
    buffer = hal_.call(builder_, location, "buffer_view.buffer", {buffer});
  }
  const Place target = places_.external(location, op.getResult(), buffer, SmallVector<Value>(op.getSourceDims()));
  target.memory->name = "storage";
  target.memory->fence = op.getWaitFence();
  gatherer_.copy_buffer(location, op.getSource(), target);
  target.memory->pending = true;  // As external memory, whose contents are on their way.
  places_.place(op.getResult(), target);
  return success();
}

LogicalResult Boundary::schedule_barrier(hal::TensorBarrierOp op) {
  const Location location = op.getLoc();
  for (const Value source : op.getSources()) {
    const Memory& memory = *places_.of(source).memory;
    if (memory.pending && memory.storage < 0) flusher_.whole_buffer(location, source);  // No command makes it.
  }
  // Without tensors it is for everything that was begun.
  const bool any_pending =
      op.getSources().empty()
          ? !gatherer_.devices().empty()
          : llvm::any_of(op.getSources(), [&](Value source) { return places_.of(source).memory->pending; });
  // The recording may tell the fence itself when nothing else is waited for.
  bool all_gathered = any_pending && gatherer_.devices().size() == 1;
  for (const Value source : op.getSources()) {
    const Memory& memory = *places_.of(source).memory;
    all_gathered &= memory.pending || !memory.fence;
  }
  SmallVector<Value> fences;
  if (any_pending) fences = flusher_.flush(op, all_gathered ? op.getSignalFence() : Value());
  flusher_.hand_over_commands();
  if (!all_gathered) {
    for (const Value source : op.getSources()) fences.push_back(places_.of(source).memory->fence);
    const Value wait = flusher_.join(location, fences);
    hal_.call(builder_, location, "queue.barrier", {function_.device(), wait, op.getSignalFence()});
  }
  // A caller that gets the results waits for the fence; here they count as ready.
  for (const auto [source, result] : llvm::zip(op.getSources(), op.getResults())) {
    Place placed = places_.of(source);
    Memory* ready = places_.make_memory(placed.memory->name, placed.memory->device);
    ready->buffer = placed.memory->buffer;
    ready->bytes = placed.memory->bytes;
    ready->constant_global = placed.memory->constant_global;
    placed.memory = ready;
    places_.place(result, placed);
  }
  return success();
}

LogicalResult Boundary::schedule_call(util::CallOp op) {
  const Location location = op.getLoc();
  auto callee = function_.program.module().lookupSymbol<util::FuncOp>(op.getCallee());
  if (!callee || callee.isExternal()) {
    return op.emitOpError("passes tensors to @") << op.getCallee() << ", which has no body and no wrapper";
  }
  flusher_.flush(op);
  SmallVector<Value> tensors(llvm::make_filter_range(op.getOperands(), [](Value value) { return is_tensor(value); }));
  flusher_.await(location, tensors);
  SmallVector<Value> operands;
  flusher_.expand(location, op.getOperands(), operands);
  SmallVector<mlir::Type> types;
  expand_types(hal_, op.getResultTypes(), types);
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
    places_.place(result, places_.external(location, result, buffer, sizes));
  }
  return success();
}

LogicalResult Boundary::schedule_return(Operation* op) {
  flusher_.flush(op);
  flusher_.await_commands(op->getLoc());
  if (!has_tensors(op)) return success();
  SmallVector<Value> tensors(llvm::make_filter_range(op->getOperands(), [](Value value) { return is_tensor(value); }));
  flusher_.await(op->getLoc(), tensors);
  SmallVector<Value> operands;
  flusher_.expand(op->getLoc(), op->getOperands(), operands);
  op->setOperands(operands);
  return success();
}

LogicalResult Boundary::schedule_branch(Operation* op) {
  llvm::DenseMap<unsigned, Place> copies;
  for (unsigned i = 0; i < op->getNumOperands(); ++i) {
    if (!places_.ownership().hands_copy(op, i)) continue;
    const Place& copy = copies[i] = gatherer_.copy(op, op->getOperand(i));
    copy.memory->handed_on = true;
  }
  flusher_.flush(op);
  flusher_.await_commands(op->getLoc());
  // Other blocks don't know the fences of this one.
  for (const std::unique_ptr<Memory>& memory : places_.memories()) {
    if (memory->fence && memory->buffer && places_.outlives_block(*memory))
      flusher_.await_memory(op->getLoc(), *memory);
  }
  auto branch = llvm::dyn_cast<mlir::BranchOpInterface>(op);
  for (unsigned i = 0; branch && i < op->getNumSuccessors(); ++i) {
    mlir::SuccessorOperands forwarded = branch.getSuccessorOperands(i);
    const SmallVector<Value> before(forwarded.getForwardedOperands());
    if (!llvm::any_of(before, [](Value value) { return is_tensor(value); })) continue;
    SmallVector<Value> operands;
    for (unsigned number = 0; number < before.size(); ++number) {
      const auto copy = copies.find(forwarded.getOperandIndex(number));
      if (copy == copies.end()) {
        flusher_.expand(op->getLoc(), before[number], operands);
      } else {
        operands.push_back(copy->second.memory->buffer);
        llvm::append_range(operands, copy->second.sizes);
      }
    }
    forwarded.getMutableForwardedOperands().assign(operands);
  }
  return success();
}

}  // namespace baton::compiler_lite::schedule
