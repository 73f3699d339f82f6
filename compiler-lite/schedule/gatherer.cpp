#include "compiler-lite/schedule/gatherer.hpp"

#include "compiler-lite/schedule/tensors.hpp"

namespace baton::compiler_lite {

using mlir::Location;
using mlir::Operation;
using mlir::Value;

unsigned Gatherer::storage_of(Memory& memory) {
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
  memory.storage = static_cast<int>(gathered_.recording.add_storage(storage, {memory.bytes, memory.constant_global}));
  gathered_.memories.push_back(&memory);
  return static_cast<unsigned>(memory.storage);
}

Range Gatherer::range_of(Value tensor, bool reads, bool writes) {
  return range_of(tensor.getLoc(), tensor, places_.of(tensor), reads, writes);
}

Range Gatherer::range_of(Location location, Value tensor, const Place& place, bool reads, bool writes) {
  return {.storage = storage_of(*place.memory),
          .offset = place.offset,
          .bytes = places_.bytes_of(location, tensor.getType(), place.sizes),
          .reads = reads,
          .writes = writes};
}

void Gatherer::gather(Command command, std::string text) {
  // In memory of the caller's, too: who hands it on waits for what writes it.
  for (const Range& range : command.ranges) {
    if (range.writes) gathered_.memories[range.storage]->pending = true;
  }
  gathered_.recording.add_command(std::move(command), std::move(text));
}

Place Gatherer::tie(Operation* op, Value operand) {
  if (places_.may_overwrite(op, operand)) return places_.of(operand);
  const Location location = op->getLoc();
  Place copy = places_.of(operand);
  copy.memory = places_.make_pending(op, places_.bytes_of(location, operand.getType(), copy.sizes));
  copy.offset = {};
  Command command{.kind = Command::Kind::kCopyBuffer, .location = location};
  command.ranges.push_back(range_of(operand, true, false));
  command.ranges.push_back(range_of(location, operand, copy, false, true));
  gather(std::move(command), "copy");
  return copy;
}

Gathered Gatherer::take() {
  for (Memory* memory : gathered_.memories) memory->storage = -1;
  size_classes_.clear();
  return std::exchange(gathered_, {});
}

}  // namespace baton::compiler_lite
