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

// What a check asks of the buffer in a slot. Slots that follow each other often have the same one.
struct SlotBuffer {
  SlotBuffer() = default;
  SlotBuffer(const Buffer* of, const Allocator* allocator) : buffer(of), is_own(of && of->allocator() == allocator) {
    if (!is_own || of->freed()) return;
    usable = true;
    length = of->length();
    usage = of->usage();
  }

  const Buffer* buffer = nullptr;
  bool is_own = false;  // Of the allocator.
  bool usable = false;
  uint64_t length = 0;
  BufferUsage usage = BufferUsage::kNone;
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
    return fits(slot, range, SlotBuffer(range.buffer, allocator));
  }
  // `of` is the range's.
  bool fits(size_t slot, const BufferRange& range, const SlotBuffer& of) const {
    const SlotNeed& need = needs_[slot];
    if (need.use_count == 0) return true;
    if (!of.usable) return false;
    const uint64_t length = range_length(range);
    return length >= need.length && range_inside(range.offset, length, of.length) && has_all(of.usage, need.usage) &&
           !(need.host_writes && has_all(of.usage, BufferUsage::kConstant));
  }
  Status check_slot(size_t slot, const BufferRange& range, const Allocator* allocator) const;

 private:
  SlotNeed* needs_;
  uint32_t slot_count_;
  ArenaList<SlotUse> uses_;
};

}  // namespace baton::hal
