#include "hal/slot_index.hpp"

namespace baton::hal {
namespace {

// Why `range` does not fit.
Status misfit(size_t slot, const SlotNeed& need, const BufferRange& range, const Allocator* allocator) {
  if (!range.buffer) return failure(StatusCode::kInvalidArgument, "Slot ", slot, " has no buffer in the table.");
  const Buffer& buffer = *range.buffer;
  if (buffer.freed()) return failure(StatusCode::kFailedPrecondition, "Slot ", slot, " is a buffer that was freed.");
  if (buffer.allocator() != allocator) {
    return failure(StatusCode::kInvalidArgument, "Slot ", slot, " is a buffer of another device, in the memory of ",
                   location_name(buffer.location()), ".");
  }
  const uint64_t length = range_length(range);
  if (!range_inside(range.offset, length, buffer.length())) {
    return failure(StatusCode::kOutOfRange, "Slot ", slot, " [", range.offset, ", ", range.offset + length,
                   ") ends beyond the buffer length (", buffer.length(), ").");
  }
  if (length < need.length) {
    return failure(StatusCode::kOutOfRange, "Slot ", slot, " has ", length, " bytes in the table; its ", need.use_count,
                   " uses need ", need.length, ".");
  }
  if (!has_all(buffer.usage(), need.usage)) {
    return failure(StatusCode::kPermissionDenied, "Slot ", slot, " needs usage ", usage_names(need.usage),
                   "; its buffer has ", usage_names(buffer.usage()), ".");
  }
  return failure(StatusCode::kPermissionDenied, "Slot ", slot, " is written by a host call; its buffer is constant.");
}

}  // namespace

Status SlotIndex::check_slot(size_t slot, const BufferRange& range, const Allocator* allocator) const {
  return fits(slot, range, allocator) ? Status() : misfit(slot, needs_[slot], range, allocator);
}

Status SlotIndex::check(std::span<const BufferRange> table, const Allocator* allocator) const {
  for (size_t slot = 0; slot < slot_count_; ++slot) {
    const SlotNeed& need = needs_[slot];
    if (need.use_count == 0) continue;
    if (slot >= table.size()) {
      return failure(StatusCode::kInvalidArgument, "Slot ", slot, " is used by the recording; the table has ",
                     table.size(), " buffers.");
    }
    BATON_TRY(check_slot(slot, table[slot], allocator));
  }
  return {};
}

}  // namespace baton::hal
