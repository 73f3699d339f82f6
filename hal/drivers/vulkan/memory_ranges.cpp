#include "hal/drivers/vulkan/memory_ranges.hpp"

#include <algorithm>

namespace baton::hal::drivers::vulkan {

MemoryRanges::MemoryRanges(uint64_t length, uint64_t granule) : length_(length), granule_(granule) {
  if (length != 0) insert(0, length);
}

uint64_t MemoryRanges::rounded(uint64_t length) const {
  const uint64_t least = std::max<uint64_t>(length, 1);
  return (least + granule_ - 1) / granule_ * granule_;
}

void MemoryRanges::insert(uint64_t offset, uint64_t length) {
  by_offset_.emplace(offset, length);
  by_length_.emplace(length, offset);
  free_bytes_ += length;
}

void MemoryRanges::erase(std::map<uint64_t, uint64_t>::iterator range) {
  by_length_.erase({range->second, range->first});
  free_bytes_ -= range->second;
  by_offset_.erase(range);
}

std::optional<uint64_t> MemoryRanges::take(uint64_t length) {
  if (length > length_) return std::nullopt;
  const uint64_t wanted = rounded(length);
  const auto found = by_length_.lower_bound({wanted, 0});
  if (found == by_length_.end()) return std::nullopt;
  const auto [found_length, offset] = *found;
  erase(by_offset_.find(offset));
  if (found_length > wanted) insert(offset + wanted, found_length - wanted);
  return offset;
}

void MemoryRanges::give(uint64_t offset, uint64_t length) {
  uint64_t start = offset;
  uint64_t end = offset + rounded(length);
  auto next = by_offset_.lower_bound(start);
  if (next != by_offset_.end() && next->first == end) {
    end += next->second;
    const auto joined = next++;
    erase(joined);
  }
  if (next != by_offset_.begin()) {
    const auto before = std::prev(next);
    if (before->first + before->second == start) {
      start = before->first;
      erase(before);
    }
  }
  insert(start, end - start);
}

}  // namespace baton::hal::drivers::vulkan
