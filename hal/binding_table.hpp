// BindingTable: what the slots of a recording mean in one execution. Borrowed for the call that takes it.
#pragma once

#include <cstdint>
#include <span>

#include "hal/buffer.hpp"

namespace baton::hal {

struct BindingTable {
  std::span<const BufferRange> buffers = {};  // By slot.
  std::span<const uint32_t> constants = {};   // By constant slot.
  const class SlotTable* kept_by = nullptr;   // Whose `buffers` are, if they are of one.
};

// Longer tables are a sign of a mistake, and hosts keep a table on the stack.
inline constexpr uint32_t kSlotsMax = 1024;

}  // namespace baton::hal
