// What a command works on: a range of a buffer, or a slot that the table of each execution fills.
#pragma once

#include <cstdint>

#include "hal/buffer.hpp"

namespace baton::hal {

// Names an entry of BindingTable::buffers.
struct Slot {
  uint32_t index;
};

struct Binding {
  Buffer* buffer = nullptr;  // Borrowed; null: `slot` counts.
  uint32_t slot = 0;
  Access access = Access::kReadWrite;  // Of dispatches and calls; transfers know theirs.
  uint64_t offset = 0;
  // Of a buffer always its true value. Of a slot, kWholeLength means up to the end of what the table brings.
  uint64_t length = 0;

  Binding() = default;
  Binding(const BufferRange& range, Access use = Access::kReadWrite)  // NOLINT: a range is a binding
      : buffer(range.buffer), access(use), offset(range.offset), length(range.buffer ? range_length(range) : 0) {}
  Binding(Buffer& whole, Access use = Access::kReadWrite) : Binding(BufferRange(whole), use) {}             // NOLINT
  Binding(const Ref<Buffer>& whole, Access use = Access::kReadWrite) : Binding(BufferRange(whole), use) {}  // NOLINT
  Binding(Slot of, uint64_t offset_bytes = 0, uint64_t length_bytes = kWholeLength,
          Access use = Access::kReadWrite)  // NOLINT
      : slot(of.index), access(use), offset(offset_bytes), length(length_bytes) {}

  bool is_slot() const { return buffer == nullptr; }
  bool is_open() const { return is_slot() && length == kWholeLength; }
};

// A constant of a dispatch that BindingTable::constants fills: constants[constant] = table.constants[slot].
struct ConstantSlot {
  uint32_t constant;
  uint32_t slot;
};

}  // namespace baton::hal
