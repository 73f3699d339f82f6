// FunctionScheduler: where tensors lie, what is gathered, and how it is executed.
#include "compiler-lite/schedule/function_scheduler.hpp"
#include "compiler-lite/schedule/kept_recordings.hpp"
#include "compiler-lite/schedule/tensors.hpp"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace baton::compiler_lite {
namespace {

namespace arith = mlir::arith;
using llvm::SmallVector;
using mlir::Location;
using mlir::Operation;
using mlir::RankedTensorType;
using mlir::Value;

// hal/memory.hpp
constexpr int kDeviceLocal = 1, kHostVisible = 2;
constexpr int kTransfer = 1 | 2, kDispatch = 4 | 8, kMapping = 32;

RankedTensorType type_of(Value tensor) { return llvm::cast<RankedTensorType>(tensor.getType()); }

}  // namespace

// Tensors and memories -----------------------------------------------------------------------------------------------

FunctionScheduler::Memory* FunctionScheduler::make_memory(std::string name) {
  memories_.push_back(std::make_unique<Memory>());
  memories_.back()->name = std::move(name);
  return memories_.back().get();
}

FunctionScheduler::Memory* FunctionScheduler::make_pending(Operation* op, Value bytes) {
  Memory* memory = make_memory(op->getName().stripDialect().str());
  memory->bytes = bytes;
  memory->owned = true;
  memory->pending = true;
  return memory;
}

void FunctionScheduler::place(Value tensor, Place place) {
  place.memory->tensors.push_back(tensor);
  places_[tensor] = std::move(place);
}

FunctionScheduler::Place& FunctionScheduler::place_of(Value tensor) {
  const auto found = places_.find(tensor);
  if (found != places_.end()) return found->second;
  llvm::report_fatal_error("a tensor was used before it was scheduled");
}

FunctionScheduler::Place FunctionScheduler::place_external(Location location, Value tensor, Value buffer,
                                                           llvm::ArrayRef<Value> sizes) {
  Place placed{make_memory("external"), {}, SmallVector<Value>(sizes)};
  placed.memory->buffer = buffer;
  placed.memory->bytes = bytes_of_tensor(location, tensor.getType(), sizes);
  return placed;
}

SmallVector<Value> FunctionScheduler::all_sizes(Location location, Value tensor) {
  const RankedTensorType type = type_of(tensor);
  const Place& placed = place_of(tensor);
  SmallVector<Value> sizes;
  unsigned next = 0;
  for (unsigned i = 0; i < type.getRank(); ++i) {
    sizes.push_back(type.isDynamicDim(i) ? placed.sizes[next++] : hal_.index(builder_, location, type.getDimSize(i)));
  }
  return sizes;
}

Value FunctionScheduler::bytes_of_tensor(Location location, mlir::Type type, mlir::ValueRange sizes) {
  const auto tensor = llvm::cast<RankedTensorType>(type);
  int64_t known = element_bytes(tensor.getElementType());
  for (const int64_t size : tensor.getShape()) known *= mlir::ShapedType::isDynamic(size) ? 1 : size;
  Value bytes = hal_.index(builder_, location, known);
  for (const Value size : sizes) bytes = builder_.createOrFold<arith::MulIOp>(location, bytes, size);
  return bytes;
}

Value FunctionScheduler::element_offset(Location location, Value tensor, mlir::ValueRange indices) {
  const SmallVector<Value> sizes = all_sizes(location, tensor);
  Value number = hal_.index(builder_, location, 0);
  for (size_t i = 0; i < sizes.size(); ++i) {
    number = builder_.createOrFold<arith::MulIOp>(location, number, sizes[i]);
    number = builder_.createOrFold<arith::AddIOp>(location, number, indices[i]);
  }
  const Value bytes = hal_.index(builder_, location, element_bytes(type_of(tensor).getElementType()));
  return builder_.createOrFold<arith::MulIOp>(location, number, bytes);
}

Value FunctionScheduler::exact_buffer(Location location, Value tensor) {
  const Place& placed = place_of(tensor);
  if (placed.memory->pending) {
    // A tensor.empty that no command touched: memory with anything in it.
    Value ready = hal_.null(builder_, location, hal_.fence_type());
    placed.memory->buffer =
        allocate(location, ready, placed.memory->bytes, kDeviceLocal | kHostVisible, kTransfer | kDispatch | kMapping);
    placed.memory->fence = ready;
    placed.memory->pending = false;
    await(location, {tensor});
  }
  Value buffer = placed.memory->buffer;
  if (!buffer && !placed.memory->constant_global.empty()) {
    buffer = builder_.create<util::GlobalLoadOp>(
        location, hal_.buffer_type(), mlir::UnitAttr(),
        mlir::FlatSymbolRefAttr::get(builder_.getContext(), placed.memory->constant_global));
  }
  if (!placed.offset) return buffer;
  return hal_.call(builder_, location, "buffer.subspan",
                   {buffer, placed.offset, bytes_of_tensor(location, tensor.getType(), placed.sizes)});
}

void FunctionScheduler::expand(Location location, mlir::ValueRange values, llvm::SmallVectorImpl<Value>& out) {
  for (const Value value : values) {
    if (!is_tensor(value)) {
      out.push_back(value);
      continue;
    }
    out.push_back(exact_buffer(location, value));
    llvm::append_range(out, place_of(value).sizes);
    place_of(value).memory->owned = false;
  }
}

void FunctionScheduler::expand_types(mlir::TypeRange types, llvm::SmallVectorImpl<mlir::Type>& out) {
  for (const mlir::Type type : types) {
    const auto tensor = llvm::dyn_cast<RankedTensorType>(type);
    out.push_back(tensor ? hal_.buffer_type() : type);
    if (tensor) out.append(static_cast<size_t>(tensor.getNumDynamicDims()), builder_.getIndexType());
  }
}

// A tensor as an argument is its buffer and its sizes.
void FunctionScheduler::convert_arguments(mlir::Block& block) {
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
    place(argument, place_external(location, argument, buffer, sizes));
    dead_arguments_.push_back(argument);
  }
}

bool FunctionScheduler::used_later(const Memory& memory) {
  return llvm::any_of(memory.tensors, [&](Value tensor) {
    return llvm::any_of(tensor.getUsers(), [&](Operation* user) { return !done_.contains(user); });
  });
}

bool FunctionScheduler::may_overwrite(Operation* op, Value tensor) {
  const Memory& memory = *place_of(tensor).memory;
  if (!memory.owned || !memory.constant_global.empty()) return false;
  for (Value other : memory.tensors) {
    // From another block it may be wanted again when this one runs again.
    if (other.getParentBlock() != op->getBlock()) return false;
    for (Operation* user : other.getUsers()) {
      if (user == op ? other != tensor : !done_.contains(user)) return false;
    }
  }
  return llvm::count(op->getOperands(), tensor) == 1;
}

FunctionScheduler::Place FunctionScheduler::tie(Operation* op, Value operand) {
  if (may_overwrite(op, operand)) return place_of(operand);
  const Location location = op->getLoc();
  Place copy = place_of(operand);
  copy.memory = make_pending(op, bytes_of_tensor(location, operand.getType(), copy.sizes));
  copy.offset = {};
  Command command{.kind = Command::Kind::kCopy, .location = location};
  command.ranges.push_back(range_of(operand, true, false));
  command.ranges.push_back(range_of(location, operand, copy, false, true));
  gather(std::move(command), "copy");
  return copy;
}

// What is gathered ---------------------------------------------------------------------------------------------------

unsigned FunctionScheduler::storage_of(Memory& memory) {
  if (memory.storage >= 0) return static_cast<unsigned>(memory.storage);
  Storage storage;
  storage.name = memory.name;
  storage.bytes = memory.bytes ? fold_integer(memory.bytes).value_or(kUnknown) : kUnknown;
  storage.kind = !memory.constant_global.empty() ? StorageKind::kConstant
                 : memory.pending                ? StorageKind::kTransient
                                                 : StorageKind::kExternal;
  if (storage.bytes == kUnknown && memory.bytes) {
    storage.size_class = size_classes_.try_emplace(memory.bytes, size_classes_.size()).first->second;
  }
  memory.storage = static_cast<int>(gathered_.add_storage(storage, {memory.bytes, memory.constant_global}));
  gathered_memories_.push_back(&memory);
  return static_cast<unsigned>(memory.storage);
}

Range FunctionScheduler::range_of(Value tensor, bool reads, bool writes) {
  return range_of(tensor.getLoc(), tensor, place_of(tensor), reads, writes);
}

Range FunctionScheduler::range_of(Location location, Value tensor, const Place& place, bool reads, bool writes) {
  return {.storage = storage_of(*place.memory),
          .offset = place.offset,
          .bytes = bytes_of_tensor(location, tensor.getType(), place.sizes),
          .reads = reads,
          .writes = writes};
}

void FunctionScheduler::gather(Command command, std::string text) {
  gathered_.add_command(std::move(command), std::move(text));
}

Value FunctionScheduler::device() {
  if (!device_) {
    mlir::OpBuilder::InsertionGuard guard(builder_);
    builder_.setInsertionPointToStart(&function_.getBody().front());
    device_ = program_.load_device(builder_, function_.getLoc());
  }
  return device_;
}

Value FunctionScheduler::join(Location location, llvm::ArrayRef<Value> fences) {
  SmallVector<Value> different;
  for (const Value fence : fences) {
    if (fence && !llvm::is_contained(different, fence)) different.push_back(fence);
  }
  if (different.empty()) return hal_.null(builder_, location, hal_.fence_type());
  if (different.size() == 1) return different[0];
  return hal_.call(builder_, location, "fence.join", different, {static_cast<int32_t>(different.size())});
}

Value FunctionScheduler::gathered_waits(Location location) {
  SmallVector<Value> fences;
  for (const Memory* memory : gathered_memories_) fences.push_back(memory->fence);
  return join(location, fences);
}

void FunctionScheduler::await(Location location, llvm::ArrayRef<Value> tensors) {
  SmallVector<Value> fences;
  for (const Value tensor : tensors) {
    const Value fence = place_of(tensor).memory->fence;
    if (fence && !llvm::is_contained(fences, fence)) fences.push_back(fence);
  }
  if (fences.empty()) return;
  SmallVector<Value> operands = {hal_.i32(builder_, location, -1)};
  llvm::append_range(operands, fences);
  const Value status = hal_.call(builder_, location, "fence.await", operands, {static_cast<int32_t>(fences.size())});
  const Value failed =
      builder_.create<arith::CmpIOp>(location, arith::CmpIPredicate::ne, status, hal_.i32(builder_, location, 0));
  auto failure = builder_.create<mlir::scf::IfOp>(location, failed, /*withElseRegion=*/false);
  {
    mlir::OpBuilder::InsertionGuard guard(builder_);
    builder_.setInsertionPointToStart(&failure.getThenRegion().front());
    for (const Value fence : fences) hal_.call(builder_, location, "fence.check", {fence});
  }
  for (const std::unique_ptr<Memory>& memory : memories_) {
    if (llvm::is_contained(fences, memory->fence)) memory->fence = {};
  }
}

Value FunctionScheduler::allocate(Location location, Value& after, Value bytes, int memory_kind, int usage) {
  const Value ready = hal_.call(builder_, location, "fence.create", {device()});
  const Value buffer = hal_.call(
      builder_, location, "queue.allocate",
      {device(), after, ready, hal_.i32(builder_, location, memory_kind), hal_.i32(builder_, location, usage), bytes});
  after = ready;
  return buffer;
}

Value FunctionScheduler::slab_bytes(Location location, llvm::SmallVectorImpl<Value>& region_offsets) {
  const Plan& plan = gathered_.plan;
  Value bytes = hal_.index(builder_, location, plan.slab_bytes);
  for (unsigned region = 0; region < plan.regions.size(); ++region) {
    region_offsets.push_back(bytes);
    Value size;
    for (size_t i = 0; i < plan.storages.size() && !size; ++i) {
      const Storage& storage = plan.storages[i];
      const bool tenant = storage.kind == StorageKind::kTransient && storage.used && storage.bytes == kUnknown &&
                          storage.region == region;
      if (tenant) size = gathered_.sources[i].bytes;
    }
    const Value rounding = hal_.index(builder_, location, kTransientAlignment - 1);
    const Value mask = hal_.index(builder_, location, -kTransientAlignment);
    size = builder_.createOrFold<arith::AddIOp>(location, size, rounding);
    size = builder_.createOrFold<arith::AndIOp>(location, size, mask);
    bytes = builder_.createOrFold<arith::AddIOp>(location, bytes, size);
  }
  return bytes;
}

void FunctionScheduler::flush(Operation* op, Value signal) {
  if (gathered_.commands.empty()) return;
  const Location location = gathered_.commands.front().location;
  Plan& plan = gathered_.plan;
  plan.name = function_.getSymName().str() + "." + std::to_string(recording_count_++);
  for (size_t i = 0; i < plan.storages.size(); ++i) {
    const bool transient = plan.storages[i].kind == StorageKind::kTransient;
    if (transient && used_later(*gathered_memories_[i])) plan.storages[i].kind = StorageKind::kResult;
  }
  plan.recorded_once = gathered_.depends_on_constants_only();
  plan_barriers(plan);
  plan_memory(plan);
  if (program_.wants_dump()) program_.dump(print_plan(plan));

  builder_.setInsertionPoint(op);
  Value after = gathered_waits(location);
  SmallVector<Value> table;
  const auto add_row = [&](Value buffer, Value bytes) {
    table.append({buffer, hal_.index(builder_, location, 0), bytes});
  };
  const std::vector<int> slots = gathered_.slots();
  for (size_t i = 0; i < plan.storages.size(); ++i) {
    Memory& memory = *gathered_memories_[i];
    if (plan.storages[i].kind == StorageKind::kResult) {
      memory.buffer =
          allocate(location, after, memory.bytes, kDeviceLocal | kHostVisible, kTransfer | kDispatch | kMapping);
    }
    if (slots[i] >= 0) add_row(memory.buffer, memory.bytes ? memory.bytes : hal_.index(builder_, location, -1));
  }
  Value slab;
  SmallVector<Value> region_offsets;
  if (plan.has_slab()) {
    const Value bytes = slab_bytes(location, region_offsets);
    slab = allocate(location, after, bytes, kDeviceLocal, kTransfer | kDispatch);
    add_row(slab, bytes);
  }

  Value recording;
  if (plan.recorded_once) {
    const std::string global = program_.add_global("recording." + plan.name, hal_.recording_type(), location);
    const Value made =
        write_recording(program_.initializer(), hal_, gathered_, program_.initializer_device(), {}, true);
    program_.initializer().create<util::GlobalStoreOp>(location, made, global);
    recording = builder_.create<util::GlobalLoadOp>(location, hal_.recording_type(), mlir::UnitAttr(),
                                                    mlir::FlatSymbolRefAttr::get(builder_.getContext(), global));
  } else {
    const Value used = device();  // Before there are branches.
    const auto record = [&] { return write_recording(builder_, hal_, gathered_, used, region_offsets, false); };
    const auto keys = find_keys(gathered_, region_offsets);
    recording = keys ? write_kept_recording(builder_, program_, location, plan.name, *keys, record) : record();
  }
  const Value done = signal ? signal : hal_.call(builder_, location, "fence.create", {device()});
  SmallVector<Value> operands = {device(), after, done, recording};
  llvm::append_range(operands, table);
  hal_.call(builder_, location, "queue.execute", operands, {static_cast<int32_t>(table.size() / 3), 0});
  if (slab) {
    hal_.call(builder_, location, "queue.free",
              {device(), done, hal_.null(builder_, location, hal_.fence_type()), slab});
  }
  for (Memory* memory : gathered_memories_) {
    // Whoever may write over it later waits for those that read it here, too.
    if (memory->pending || memory->owned) memory->fence = done;
    memory->pending = false;
    memory->storage = -1;
  }
  gathered_ = {};
  gathered_memories_.clear();
  size_classes_.clear();
}

}  // namespace baton::compiler_lite
