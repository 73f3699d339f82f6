// WorkOrder: which of the barriers that a recording asks for the device needs. One between commands that touch nothing in common
// orders nothing, and keeps the device from running them side by side.
//
// The memory of fixed buffers is told by its addresses. What stands in a slot is not known, because command buffers are made once for all
// tables: two slots may be the same memory, or that of a fixed buffer, and one slot's ranges are told apart. That is what
// hal/drivers/common/hazards.hpp names without a table, but for slots that it takes to be different.
// Threads: externally synchronized.
#pragma once

#include <span>
#include <vector>

#include "hal/drivers/vulkan/host_arguments.hpp"

namespace baton::hal::drivers::vulkan {

class WorkOrder {
 public:
  // A command asks that all before it is done when what follows begins.
  void barrier();
  // The next launch, whose grid stands in the table at `grid_at`, or nowhere. Whether a barrier has to stand before it.
  bool needs_barrier(std::span<const RecordedBinding> bindings, uint32_t grid_at);

 private:
  struct Range {
    uint32_t space;
    uint64_t start, end;
  };
  // Ranges of several spaces in order, merged where they meet.
  class Ranges {
   public:
    void add(const Range& range);
    void add(const Ranges& others) {
      for (const Range& each : others.ranges_) add(each);
    }
    bool meets(const Range& range) const;
    size_t size() const { return ranges_.size(); }
    void clear() { ranges_.clear(); }

   private:
    std::vector<Range> ranges_;
  };
  struct Touched {
    Ranges written, read;
    bool all = false;  // More than are kept apart.

    void add(const Range& range, bool is_written);
    void add(const Touched& others);
    void clear() { written.clear(), read.clear(), all = false; }

   private:
    void limit();
  };
  static Range range_of(const RecordedBinding& binding);
  bool conflicts(const Range& range, Access access) const;

  Touched before_;  // By work that a barrier stands behind, since the last one that was needed.
  Touched since_;   // By work after that barrier.
};

}  // namespace baton::hal::drivers::vulkan
