#include "hal/drivers/vulkan/work_order.hpp"

#include <algorithm>

#include "hal/drivers/vulkan/buffer.hpp"
#include "hal/drivers/vulkan/builtins.hpp"
#include "hal/drivers/vulkan/recording.hpp"

namespace baton::hal::drivers::vulkan {
namespace {

// The table is the recording's alone. What stands in all other spaces may be the same memory.
constexpr uint32_t kTableSpace = 0, kFixedSpace = 1, kFirstSlotSpace = 2;
// More are not kept apart: looking through them would cost more than a barrier.
constexpr size_t kRangesMax = 256;

// What says nothing of its access may do anything.
bool writes(Access access) { return has_all(access, Access::kWrite) || !has_all(access, Access::kRead); }

}  // namespace

void WorkOrder::Ranges::add(const Range& range) {
  if (range.start >= range.end) return;
  // From the first that ends where this one begins, or later.
  const auto ends_before = [](const Range& one, const Range& other) {
    return one.space != other.space ? one.space < other.space : one.end < other.start;
  };
  const auto first = std::lower_bound(ranges_.begin(), ranges_.end(), range, ends_before);
  auto last = first;
  Range merged = range;
  for (; last != ranges_.end() && last->space == range.space && last->start <= range.end; ++last) {
    merged.start = std::min(merged.start, last->start);
    merged.end = std::max(merged.end, last->end);
  }
  if (first == last) {
    ranges_.insert(first, merged);
  } else {
    *first = merged;
    ranges_.erase(first + 1, last);
  }
}

bool WorkOrder::Ranges::meets(const Range& range) const {
  if (range.start >= range.end || ranges_.empty()) return false;
  const auto ends_before = [](const Range& one, const Range& other) {
    return one.space != other.space ? one.space < other.space : one.end <= other.start;
  };
  const auto found = std::lower_bound(ranges_.begin(), ranges_.end(), range, ends_before);
  if (found != ranges_.end() && found->space == range.space && found->start < range.end) return true;
  if (range.space == kTableSpace) return false;
  const auto beyond =
      std::find_if(ranges_.begin(), ranges_.end(), [](const Range& one) { return one.space != kTableSpace; });
  return beyond != ranges_.end() && (beyond->space != range.space || ranges_.back().space != range.space);
}

WorkOrder::Range WorkOrder::range_of(const RecordedBinding& binding) {
  const uint64_t end = binding.open ? ~uint64_t{0} : binding.offset + binding.length;
  if (binding.is_slot()) return {binding.slot() + kFirstSlotSpace, binding.offset, end};
  if (binding.base == RecordedBinding::kTable) return {kTableSpace, binding.offset, end};
  const uint64_t address = binding.buffer->address();
  return {kFixedSpace, address + binding.offset, address + end};
}

void WorkOrder::Touched::limit() {
  if (written.size() + read.size() <= kRangesMax) return;
  clear();
  all = true;
}

void WorkOrder::Touched::add(const Range& range, bool is_written) {
  if (all) return;
  (is_written ? written : read).add(range);
  limit();
}

void WorkOrder::Touched::add(const Touched& others) {
  all = all || others.all;
  written.add(others.written);
  read.add(others.read);
  limit();
}

void WorkOrder::barrier() {
  before_.add(since_);
  since_.clear();
}

bool WorkOrder::conflicts(const Range& range, Access access) const {
  return before_.all || before_.written.meets(range) || (writes(access) && before_.read.meets(range));
}

bool WorkOrder::needs_barrier(std::span<const RecordedBinding> bindings, uint32_t grid_at) {
  const bool reads_grid = grid_at != Launch::kDirect;
  const Range grid = {kTableSpace, grid_at, uint64_t{grid_at} + sizeof(CheckedGrid)};
  bool needed = reads_grid && conflicts(grid, Access::kRead);
  for (const RecordedBinding& binding : bindings) needed = needed || conflicts(range_of(binding), binding.access);
  if (needed) {
    before_.clear();
    since_.clear();
  }
  if (reads_grid) since_.add(grid, false);
  for (const RecordedBinding& binding : bindings) {
    since_.add(range_of(binding), writes(binding.access));
  }
  return needed;
}

}  // namespace baton::hal::drivers::vulkan
