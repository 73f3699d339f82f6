// Finds the memory that a binding means under a table. For traces and hazards; drivers that run have faster ways.
#pragma once

#include <span>

#include "hal/binding.hpp"

namespace baton::hal {

struct ResolvedRange {
  const Buffer* root = nullptr;  // Null: a slot of a recording that is looked at without a table.
  uint32_t slot = 0;
  uint64_t start = 0;  // From the start of the root.
  uint64_t end = 0;

  bool same_memory(const ResolvedRange& other) const { return root == other.root && (root || slot == other.slot); }
  bool overlaps(const ResolvedRange& other) const {
    return same_memory(other) && start < other.end && other.start < end;
  }
  bool contains(const ResolvedRange& other) const {
    return same_memory(other) && start <= other.start && other.end <= end;
  }
};

inline ResolvedRange resolve(const Binding& binding, std::span<const BufferRange> table) {
  const Buffer* buffer = binding.buffer;
  uint64_t start = binding.offset;
  uint64_t length = binding.length;
  if (binding.is_slot()) {
    if (binding.slot >= table.size() || !table[binding.slot].buffer) {
      return {nullptr, binding.slot, start, binding.is_open() ? kWholeLength : start + length};
    }
    const BufferRange& range = table[binding.slot];
    buffer = range.buffer;
    if (binding.is_open()) length = range_length(range) - binding.offset;
    start += range.offset;
  }
  start += buffer->owner_offset();
  return {&buffer->owner(), binding.slot, start, start + length};
}

}  // namespace baton::hal
