#include "compiler-lite/schedule/flusher.hpp"

#include "compiler-lite/schedule/kept_recordings.hpp"
#include "compiler-lite/schedule/small_operands.hpp"
#include "compiler-lite/schedule/tensors.hpp"
#include "hal/interface/numbers.hpp"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace baton::compiler_lite::schedule {
namespace {

namespace arith = mlir::arith;
using llvm::SmallVector;
using mlir::Location;
using mlir::Operation;
using mlir::Value;

using baton::hal::BufferUsage;
using baton::hal::MemoryKind;
constexpr int kDeviceLocal = static_cast<int>(MemoryKind::kDeviceLocal);
constexpr int kHostVisible = static_cast<int>(MemoryKind::kHostVisible);
constexpr int kTransfer = static_cast<int>(BufferUsage::kTransfer);
constexpr int kDispatch = static_cast<int>(BufferUsage::kDispatch);
constexpr int kMapping = static_cast<int>(BufferUsage::kMapping);

}  // namespace

Value Flusher::whole_buffer(Location location, Value tensor) {
  const Place& placed = places_.of(tensor);
  if (placed.memory->pending) {
    // A tensor.empty that no command touched: memory with anything in it.
    Value ready = hal_.null(builder_, location, hal_.fence_type());
    placed.memory->buffer = allocate(location, placed.memory->device, ready, placed.memory->bytes,
                                     kDeviceLocal | kHostVisible, kTransfer | kDispatch | kMapping);
    placed.memory->fence = ready;
    placed.memory->pending = false;
    await(location, {tensor});
  }
  return buffer_of(location, *placed.memory);
}

Value Flusher::exact_buffer(Location location, Value tensor) {
  const Place& placed = places_.of(tensor);
  const Value buffer = whole_buffer(location, tensor);
  if (!placed.offset) return buffer;
  return hal_.call(builder_, location, "buffer.subspan",
                   {buffer, placed.offset, places_.bytes_of(location, tensor.getType(), placed.sizes)});
}

Value Flusher::buffer_of(Location location, const Memory& memory) {
  if (memory.buffer || memory.constant_global.empty()) return memory.buffer;
  return builder_.create<util::GlobalLoadOp>(
      location, hal_.buffer_type(), mlir::UnitAttr(),
      mlir::FlatSymbolRefAttr::get(builder_.getContext(), memory.constant_global));
}

void Flusher::expand(Location location, mlir::ValueRange values, llvm::SmallVectorImpl<Value>& out) {
  for (const Value value : values) {
    if (!is_tensor(value)) {
      out.push_back(value);
      continue;
    }
    out.push_back(exact_buffer(location, value));
    llvm::append_range(out, places_.of(value).sizes);
    places_.of(value).memory->owned = false;
  }
}

Value Flusher::join(Location location, llvm::ArrayRef<Value> fences) {
  SmallVector<Value> different;
  for (const Value fence : fences) {
    if (fence && !llvm::is_contained(different, fence)) different.push_back(fence);
  }
  if (different.empty()) return hal_.null(builder_, location, hal_.fence_type());
  if (different.size() == 1) return different[0];
  return hal_.call(builder_, location, "fence.join", different, {static_cast<int32_t>(different.size())});
}

void Flusher::await(Location location, llvm::ArrayRef<Value> tensors) {
  SmallVector<Value> fences;
  for (const Value tensor : tensors) {
    const Value fence = places_.of(tensor).memory->fence;
    if (fence && !llvm::is_contained(fences, fence)) fences.push_back(fence);
  }
  await_fences(location, fences);
}

void Flusher::await_commands(Location location) { await_fences(location, SmallVector<Value>(commands_done_)); }

void Flusher::await_fences(Location location, llvm::ArrayRef<Value> fences) {
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
  for (const std::unique_ptr<Memory>& memory : places_.memories()) {
    if (llvm::is_contained(fences, memory->fence)) memory->fence = {};
  }
  llvm::erase_if(commands_done_, [&](Value done) { return llvm::is_contained(fences, done); });
}

Value Flusher::allocate(Location location, unsigned device, Value& after, Value bytes, int memory_kind, int usage) {
  const Value on = function_.device(device);
  const Value ready = hal_.call(builder_, location, "fence.create", {on});
  const Value buffer = hal_.call(
      builder_, location, "queue.allocate",
      {on, after, ready, hal_.i32(builder_, location, memory_kind), hal_.i32(builder_, location, usage), bytes});
  after = ready;
  return buffer;
}

Value Flusher::slab_bytes(Location location, const Recording& recording, llvm::SmallVectorImpl<Value>& region_offsets) {
  const Plan& plan = recording.plan;
  Value bytes = hal_.index(builder_, location, plan.slab_bytes);
  for (unsigned region = 0; region < plan.regions.size(); ++region) {
    region_offsets.push_back(bytes);
    Value size;
    for (size_t i = 0; i < plan.storages.size() && !size; ++i) {
      const Storage& storage = plan.storages[i];
      const bool tenant = storage.kind == StorageKind::kTransient && storage.used && storage.bytes == kUnknown &&
                          storage.region == region;
      if (tenant) size = recording.sources[i].bytes;
    }
    const Value rounding = hal_.index(builder_, location, kTransientAlignment - 1);
    const Value mask = hal_.index(builder_, location, -kTransientAlignment);
    size = builder_.createOrFold<arith::AddIOp>(location, size, rounding);
    size = builder_.createOrFold<arith::AndIOp>(location, size, mask);
    bytes = builder_.createOrFold<arith::AddIOp>(location, bytes, size);
  }
  return bytes;
}

void Flusher::plan(Gathered& gathered) {
  if (function_.program.records_for_blocks()) copy_small_operands(gathered, places_);
  Plan& plan = gathered.recording.plan;
  plan.name = function_.op.getSymName().str() + "." + std::to_string(recording_count_++);
  for (size_t i = 0; i < plan.storages.size(); ++i) {
    const bool transient = plan.storages[i].kind == StorageKind::kTransient;
    if (transient && places_.used_later(*gathered.memories[i])) plan.storages[i].kind = StorageKind::kResult;
  }
  gathered.recording.open_windows();
  if (function_.program.records_for_blocks()) gathered.recording.open_numbers();
  plan.recorded_once = gathered.recording.depends_on_constants_only();
  plan_barriers(plan);
  plan_memory(plan);
  if (function_.program.wants_dump()) function_.program.dump(print_plan(plan));
}

SmallVector<Value> Flusher::make_table(const Gathered& gathered, Value& after, Slab& slab) {
  const Recording& recording = gathered.recording;
  const Location location = recording.commands.front().location;
  SmallVector<Value> table;
  const auto add_row = [&](Value buffer, Value bytes) {
    table.append({buffer, hal_.index(builder_, location, 0), bytes});
  };
  const std::vector<int> slots = recording.slots();
  for (size_t i = 0; i < slots.size(); ++i) {
    Memory& memory = *gathered.memories[i];
    if (recording.plan.storages[i].kind == StorageKind::kResult) {
      memory.buffer = allocate(location, memory.device, after, memory.bytes, kDeviceLocal | kHostVisible,
                               kTransfer | kDispatch | kMapping);
    }
    if (slots[i] >= 0) add_row(memory.buffer, memory.bytes ? memory.bytes : hal_.index(builder_, location, -1));
  }
  for (const Window& window : recording.windows) {
    table.append({gathered.memories[window.storage]->buffer, window.offset, window.bytes});
  }
  if (!recording.plan.has_slab()) return table;
  slab.bytes = slab_bytes(location, recording, slab.region_offsets);
  slab.buffer = allocate(location, recording.device, after, slab.bytes, kDeviceLocal, kTransfer | kDispatch);
  add_row(slab.buffer, slab.bytes);
  return table;
}

// Made by the initializer.
Value Flusher::recorded_once(const Recording& recording) {
  Program& program = function_.program;
  const Location location = recording.commands.front().location;
  const std::string global = program.add_global("recording." + recording.plan.name, hal_.recording_type(), location);
  const Value made =
      write_recording(program.initializer(), hal_, recording, program.initializer_device(recording.device), {}, true);
  program.initializer().create<util::GlobalStoreOp>(location, made, global);
  return builder_.create<util::GlobalLoadOp>(location, hal_.recording_type(), mlir::UnitAttr(),
                                             mlir::FlatSymbolRefAttr::get(builder_.getContext(), global));
}

Value Flusher::make_recording(const Recording& recording, llvm::ArrayRef<Value> region_offsets) {
  if (recording.plan.recorded_once) return recorded_once(recording);
  const Value used = function_.device(recording.device);  // Before there are branches.
  const auto record = [&] { return write_recording(builder_, hal_, recording, used, region_offsets, false); };
  const auto keys = find_keys(recording, region_offsets);
  if (!keys) return record();
  const Location location = recording.commands.front().location;
  return write_kept_recording(builder_, function_.program, location, recording.plan.name, *keys, record);
}

SmallVector<Value> Flusher::flush(Operation* op, Value signal) {
  SmallVector<Value> done;
  for (const unsigned device : gatherer_.devices()) done.push_back(flush(op, device, signal));
  return done;
}

Value Flusher::flush(Operation* op, unsigned device, Value signal) {
  Gathered gathered = gatherer_.take(device);
  if (gathered.recording.commands.empty()) return {};
  plan(gathered);
  const Value on = function_.device(device);

  const Location location = gathered.recording.commands.front().location;
  builder_.setInsertionPoint(op);
  SmallVector<Value> fences;
  for (const Memory* memory : gathered.memories) fences.push_back(memory->fence);
  Value after = join(location, fences);
  Slab slab;
  const SmallVector<Value> table = make_table(gathered, after, slab);
  const Value recording = make_recording(gathered.recording, slab.region_offsets);
  const Value done = signal ? signal : hal_.call(builder_, location, "fence.create", {on});
  SmallVector<Value> operands = {on, after, done, recording};
  llvm::append_range(operands, table);
  const std::vector<Value>& numbers = gathered.recording.open_constants;
  llvm::append_range(operands, numbers);
  hal_.call(builder_, location, "queue.execute", operands,
            {static_cast<int32_t>(table.size() / 3), static_cast<int32_t>(numbers.size())});
  if (slab.buffer) {
    const Value none = hal_.null(builder_, location, hal_.fence_type());
    hal_.call(builder_, location, "queue.free", {on, done, none, slab.buffer});
  }
  const auto is_custom = [](const Command& command) { return command.kind == Command::Kind::kCustom; };
  if (!signal && llvm::any_of(gathered.recording.commands, is_custom)) commands_done_.push_back(done);
  for (Memory* memory : gathered.memories) {
    // A command that writes over it later waits for those that read it here, too.
    if (memory->pending || memory->owned) memory->fence = done;
    memory->pending = false;
  }
  return done;
}

Place Flusher::transfer(Location location, Value tensor, unsigned device) {
  if (places_.of(tensor).memory->pending) whole_buffer(location, tensor);  // No command makes it.
  const Place& source = places_.of(tensor);
  const Value buffer = buffer_of(location, *source.memory);
  const Value bytes = places_.bytes_of(location, tensor.getType(), source.sizes);
  const Value zero = hal_.index(builder_, location, 0);
  const Value arrived = hal_.call(builder_, location, "fence.create", {function_.device(device)});
  Place target{places_.make_memory("transfer", device), {}, source.sizes};
  Value after = hal_.null(builder_, location, hal_.fence_type());
  target.memory->buffer =
      allocate(location, device, after, bytes, kDeviceLocal | kHostVisible, kTransfer | kDispatch | kMapping);
  target.memory->bytes = bytes;
  target.memory->owned = true;
  target.memory->fence = arrived;
  hal_.call(
      builder_, location, "queue.transfer",
      {function_.device(source.memory->device), function_.device(device), join(location, {source.memory->fence, after}),
       arrived, buffer, source.offset ? source.offset : zero, target.memory->buffer, zero, bytes});
  if (source.memory->owned) source.memory->fence = arrived;
  return target;
}

}  // namespace baton::compiler_lite::schedule
