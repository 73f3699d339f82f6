// SlotIndex: for each slot of a recording, what its buffer must be able to do, and which commands use it.
//
// It makes checking a table cost in proportion to its slots, and lets drivers that patch (CUDA nodes, Vulkan
// records) touch only the commands whose slots changed.
// Threads: immutable once the recording is finished.
#pragma once

#include "base/arena.hpp"
#include "base/bytes.hpp"
#include "base/status.hpp"
#include "hal/binding.hpp"
#include "hal/binding_table.hpp"

namespace baton::hal {

struct SlotNeed {
  uint64_t length = 0;  // The table's range must be at least this long.
  BufferUsage usage = BufferUsage::kNone;
  uint32_t use_count = 0;
  bool host_writes = false;  // A host call does: no constant may stand here.
};

struct SlotUse {
  uint32_t slot;
  uint32_t command;  // Index in the recording.
};

class SlotIndex {
 public:
  SlotIndex(Arena& arena, uint32_t slot_count)
      : needs_(slot_count ? arena.allocate_array<SlotNeed>(slot_count) : nullptr), slot_count_(slot_count) {
    for (uint32_t i = 0; i < slot_count; ++i) needs_[i] = {};
  }

  [[gnu::noinline]] void add(Arena& arena, const Binding& binding, BufferUsage usage, uint32_t command) {
    SlotNeed& need = needs_[binding.slot];
    const uint64_t end = binding.is_open() ? binding.offset : binding.offset + binding.length;
    if (need.length < end) need.length = end;
    need.usage |= usage;
    need.host_writes |= usage == BufferUsage::kMapping && has_any(binding.access, Access::kWrite);
    ++need.use_count;
    uses_.push(arena, {binding.slot, command});
  }

  std::span<const SlotNeed> needs() const { return {needs_, slot_count_}; }
  const ArenaList<SlotUse>& uses() const { return uses_; }

  // Every slot that is used has a buffer of `allocator` that is large enough and allows the uses.
  Status check(std::span<const BufferRange> table, const Allocator* allocator) const;
  // One slot of it, whether or why not.
  bool fits(size_t slot, const BufferRange& range, const Allocator* allocator) const {
    const SlotNeed& need = needs_[slot];
    if (need.use_count == 0) return true;
    if (!range.buffer) return false;
    const Buffer& buffer = *range.buffer;
    const uint64_t length = range_length(range);
    return !buffer.freed() && buffer.allocator() == allocator && length >= need.length &&
           range_inside(range.offset, length, buffer.length()) && has_all(buffer.usage(), need.usage) &&
           !(need.host_writes && has_all(buffer.usage(), BufferUsage::kConstant));
  }
  Status check_slot(size_t slot, const BufferRange& range, const Allocator* allocator) const;

 private:
  SlotNeed* needs_;
  uint32_t slot_count_;
  ArenaList<SlotUse> uses_;
};

}  // namespace baton::hal
