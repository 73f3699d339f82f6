#include "compiler-lite/schedule/small_operands.hpp"

namespace baton::compiler_lite::schedule {
namespace {

constexpr int64_t kBytesMax = 16384;
// A copy costs the device about what a change of one command costs the host.
constexpr size_t kReadersMin = 8;

bool uses(const Command& command, unsigned storage) {
  return llvm::any_of(command.ranges, [&](const Range& range) { return range.storage == storage; });
}

bool is_written(const Recording& recording, unsigned storage) {
  return llvm::any_of(recording.commands, [&](const Command& command) {
    return llvm::any_of(command.ranges, [&](const Range& range) { return range.storage == storage && range.writes; });
  });
}

std::vector<size_t> readers_of(const Recording& recording, unsigned storage) {
  std::vector<size_t> readers;
  for (size_t i = 0; i < recording.commands.size(); ++i) {
    if (uses(recording.commands[i], storage)) readers.push_back(i);
  }
  return readers;
}

bool is_small(const Storage& storage) {
  return storage.kind == StorageKind::kExternal && storage.bytes > 0 && storage.bytes <= kBytesMax;
}

void read_elsewhere(Command& command, unsigned from, unsigned to) {
  const auto redirect = [&](std::vector<Range>& ranges) {
    for (Range& range : ranges) {
      if (range.storage == from) range.storage = to;
    }
  };
  redirect(command.ranges);
  for (Command::Alternative& alternative : command.alternatives) redirect(alternative.ranges);
}

}  // namespace

void copy_small_operands(Gathered& gathered, Places& places) {
  const Recording& before = gathered.recording;
  // What is copied, and the first command that may read the copy.
  std::vector<std::pair<unsigned, size_t>> copied;
  for (unsigned storage = 0; storage < before.plan.storages.size(); ++storage) {
    if (!is_small(before.plan.storages[storage]) || is_written(before, storage)) continue;
    const std::vector<size_t> readers = readers_of(before, storage);
    if (readers.size() >= kReadersMin) copied.emplace_back(storage, readers[1]);
  }
  if (copied.empty()) return;

  Recording after;
  after.device = before.device;
  after.plan.storages = before.plan.storages;
  after.sources = before.sources;
  std::vector<unsigned> copies;
  for (const auto& [storage, first] : copied) {
    const StorageSource& source = before.sources[storage];
    Memory* memory = places.make_memory("copy", before.device);
    memory->bytes = source.bytes;
    memory->owned = memory->pending = true;
    Storage copy;
    copy.kind = StorageKind::kTransient;
    copy.bytes = before.plan.storages[storage].bytes;
    copy.name = memory->name;
    copies.push_back(after.add_storage(copy, {source.bytes, {}}));
    gathered.memories.push_back(memory);
    Command command{.kind = Command::Kind::kCopyBuffer, .location = before.commands[first].location};
    command.ranges.push_back({.device = before.device, .storage = storage, .bytes = source.bytes, .reads = true});
    command.ranges.push_back(
        {.device = before.device, .storage = copies.back(), .bytes = source.bytes, .writes = true});
    after.add_command(std::move(command), "copy of what many read");
  }
  for (size_t i = 0; i < before.commands.size(); ++i) {
    Command command = before.commands[i];
    for (size_t k = 0; k < copied.size(); ++k) {
      if (i >= copied[k].second) read_elsewhere(command, copied[k].first, copies[k]);
    }
    after.add_command(std::move(command), before.plan.commands[i].text);
  }
  gathered.recording = std::move(after);
}

}  // namespace baton::compiler_lite::schedule
