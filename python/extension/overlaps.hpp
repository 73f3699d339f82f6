// Tensors that lie in the same memory, wherever it is: on the host, on a device, in a buffer without an address.
#pragma once

#include <optional>
#include <vector>

#include "hal/buffer_view.hpp"

namespace baton::python {

struct MemoryRange {
  uintptr_t owner = 0;  // Of `begin` and `end`; 0: they are addresses.
  uint64_t begin = 0;
  uint64_t end = 0;
  size_t number = 0;  // The caller's.
  bool is_written = false;
};

MemoryRange range_of(const hal::BufferView& view, size_t number, bool is_written);

// Two of them, by their numbers, that have a byte in common which is written.
struct Overlap {
  size_t written;
  size_t other;
};
// Sorts the ranges; one without bytes overlaps with none.
std::optional<Overlap> find_overlap(std::vector<MemoryRange>& ranges);

}  // namespace baton::python
