// What the slots of one execution mean: addresses and lengths, as recorded bindings read them (recording.hpp).
#pragma once

#include "hal/binding_table.hpp"
#include "hal/drivers/common/host_allocator.hpp"

namespace baton::hal::drivers::local {

// Lives on the stack: 16 KB that are only touched as far as there are slots.
struct SlotBases {
  explicit SlotBases(const BindingTable& table) {
    addresses[0] = 0;
    lengths[0] = 0;
    for (size_t i = 0; i < table.buffers.size() && i < kSlotsMax; ++i) {
      const BufferRange& range = table.buffers[i];
      addresses[i + 1] = range.buffer ? reinterpret_cast<uintptr_t>(host_data(*range.buffer)) + range.offset : 0;
      lengths[i + 1] = range.buffer ? range_length(range) : 0;
    }
  }

  uintptr_t addresses[kSlotsMax + 1];
  uint64_t lengths[kSlotsMax + 1];
};

}  // namespace baton::hal::drivers::local
