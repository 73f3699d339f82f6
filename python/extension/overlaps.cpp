#include "python/extension/overlaps.hpp"

#include <algorithm>

namespace baton::python {
namespace {

// Of those that begin before, the one whose bytes reach farthest.
class Farthest {
 public:
  // Null where none of them reaches into `range`.
  const MemoryRange* reaching(const MemoryRange& range) const {
    return range_ && range_->owner == range.owner && range_->end > range.begin ? range_ : nullptr;
  }
  void add(const MemoryRange& range) {
    if (!range_ || range_->owner != range.owner || range_->end < range.end) range_ = &range;
  }

 private:
  const MemoryRange* range_ = nullptr;
};

}  // namespace

MemoryRange range_of(const hal::BufferView& view, size_t number, bool is_written) {
  const hal::Buffer& buffer = *view.buffer();
  const hal::MemoryLocation place = buffer.location();
  const bool has_address = place.space != hal::MemorySpace::kNone && place.address != 0;
  const uint64_t begin = has_address ? place.address : buffer.owner_offset();
  return {has_address ? 0 : reinterpret_cast<uintptr_t>(&buffer.owner()), begin, begin + view.length_bytes(), number,
          is_written};
}

std::optional<Overlap> find_overlap(std::vector<MemoryRange>& ranges) {
  std::sort(ranges.begin(), ranges.end(), [](const MemoryRange& a, const MemoryRange& b) {
    return a.owner != b.owner ? a.owner < b.owner : a.begin < b.begin;
  });
  Farthest any, written;
  for (const MemoryRange& range : ranges) {
    if (range.begin == range.end) continue;
    if (const MemoryRange* met = written.reaching(range)) return Overlap{met->number, range.number};
    const MemoryRange* met = range.is_written ? any.reaching(range) : nullptr;
    if (met) return Overlap{range.number, met->number};
    any.add(range);
    if (range.is_written) written.add(range);
  }
  return std::nullopt;
}

}  // namespace baton::python
