// MemoryRanges: which parts of a slab are free. It knows numbers alone, no memory.
//
// The smallest free range that fits is taken, at its start; ranges that are given back join their neighbours.
// Threads: externally synchronized.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace baton::hal::drivers::vulkan {

class MemoryRanges {
 public:
  // Every range begins at a multiple of `granule`, a power of two, which divides `length`.
  MemoryRanges(uint64_t length, uint64_t granule);

  // Where a range of at least `length` bytes begins; none when nothing is large enough.
  std::optional<uint64_t> take(uint64_t length);
  // What take(length) returned `offset` for.
  void give(uint64_t offset, uint64_t length);

  uint64_t free_bytes() const { return free_bytes_; }
  bool empty() const { return free_bytes_ == length_; }
  size_t free_range_count() const { return by_offset_.size(); }

 private:
  uint64_t rounded(uint64_t length) const;
  void insert(uint64_t offset, uint64_t length);
  void erase(std::map<uint64_t, uint64_t>::iterator range);

  const uint64_t length_;
  const uint64_t granule_;
  uint64_t free_bytes_ = 0;
  std::map<uint64_t, uint64_t> by_offset_;             // Offset → length.
  std::set<std::pair<uint64_t, uint64_t>> by_length_;  // {length, offset}.
};

}  // namespace baton::hal::drivers::vulkan
