#include "compiler-lite/schedule/gatherer.hpp"

#include "compiler-lite/schedule/tensors.hpp"
#include "llvm/Support/ErrorHandling.h"

namespace baton::compiler_lite::schedule {

using mlir::Location;
using mlir::Operation;
using mlir::Value;

unsigned Gatherer::storage_of(Memory& memory) {
  if (memory.storage >= 0) return static_cast<unsigned>(memory.storage);
  auto& classes = size_classes_[memory.device];
  Gathered& gathered = gathered_[memory.device];
  Storage storage;
  storage.name = memory.name;
  storage.bytes = memory.bytes ? fold_integer(memory.bytes).value_or(kUnknown) : kUnknown;
  storage.kind = !memory.constant_global.empty() ? StorageKind::kConstant
                 : memory.pending                ? StorageKind::kTransient
                                                 : StorageKind::kExternal;
  if (storage.bytes == kUnknown && memory.bytes) {
    storage.size_class = classes.try_emplace(memory.bytes, classes.size()).first->second;
  }
  memory.storage = static_cast<int>(gathered.recording.add_storage(storage, {memory.bytes, memory.constant_global}));
  gathered.memories.push_back(&memory);
  return static_cast<unsigned>(memory.storage);
}

Range Gatherer::range_of(Value tensor, bool reads, bool writes) {
  return range_of(tensor.getLoc(), tensor, places_.of(tensor), reads, writes);
}

Range Gatherer::range_of(Location location, Value tensor, const Place& place, bool reads, bool writes) {
  return {.device = place.memory->device,
          .storage = storage_of(*place.memory),
          .offset = place.offset,
          .bytes = places_.bytes_of(location, tensor.getType(), place.sizes),
          .reads = reads,
          .writes = writes};
}

void Gatherer::gather(Command command, std::string text, unsigned device) {
  if (!command.ranges.empty()) device = command.ranges.front().device;
  Gathered& gathered = gathered_[device];
  // This holds for the caller's memory, too: an operation that hands it on waits for the one that writes it.
  for (const Range& range : command.ranges) {
    if (range.device != device) llvm::report_fatal_error("a command works on tensors of two devices");
    if (range.writes) gathered.memories[range.storage]->pending = true;
  }
  gathered.recording.add_command(std::move(command), std::move(text));
}

void Gatherer::copy_buffer(Location location, Value tensor, const Place& target) {
  Command command{.kind = Command::Kind::kCopyBuffer, .location = location};
  command.ranges.push_back(range_of(tensor, true, false));
  command.ranges.push_back(range_of(location, tensor, target, false, true));
  gather(std::move(command), "copy");
}

Place Gatherer::tie(Operation* op, Value operand) {
  return places_.may_overwrite(op, operand) ? places_.of(operand) : copy(op, operand);
}

Place Gatherer::copy(Operation* op, Value operand) {
  const Location location = op->getLoc();
  Place copy = places_.of(operand);
  const unsigned device = copy.memory->device;
  copy.memory = places_.make_pending(op, places_.bytes_of(location, operand.getType(), copy.sizes));
  copy.memory->device = device;
  copy.offset = {};
  copy_buffer(location, operand, copy);
  return copy;
}

llvm::SmallVector<unsigned> Gatherer::devices() const {
  llvm::SmallVector<unsigned> devices;
  for (unsigned device = 0; device < gathered_.size(); ++device) {
    if (!gathered_[device].recording.commands.empty()) devices.push_back(device);
  }
  return devices;
}

Gathered Gatherer::take(unsigned device) {
  for (Memory* memory : gathered_[device].memories) memory->storage = -1;
  size_classes_[device].clear();
  Gathered taken = std::exchange(gathered_[device], {});
  gathered_[device].recording.device = device;
  return taken;
}

}  // namespace baton::compiler_lite::schedule
