// SlotTable: a binding table that lives as long as a host likes, and knows which of its slots changed.
//
// A host that executes with hundreds of slots changes few of them from one execution to the next. A driver that keeps
// what the last table said (CUDA graphs, Vulkan) has to compare a plain BindingTable whole; of a SlotTable it reads
// only the slots that were set since. The buffers are borrowed, as in a BindingTable.
// Threads: externally synchronized; executions read it.
#pragma once

#include <vector>

#include "hal/binding_table.hpp"

namespace baton::hal {

class SlotTable {
 public:
  explicit SlotTable(size_t slot_count);
  // A history has one identity.
  SlotTable(const SlotTable&) = delete;
  SlotTable& operator=(const SlotTable&) = delete;

  size_t slot_count() const { return ranges_.size(); }
  const BufferRange& operator[](size_t slot) const { return ranges_[slot]; }
  void set(size_t slot, const BufferRange& range) {
    ranges_[slot] = range;
    sets_[version_++ & (sets_.size() - 1)] = static_cast<uint32_t>(slot);
  }

  // For the execution of a recording.
  BindingTable table(std::span<const uint32_t> constants = {}) const { return {ranges_, constants, this}; }

  // For drivers: a number that no other table ever has; never 0.
  uint64_t identity() const { return identity_; }
  // Increments on every set(); drivers compare it.
  uint64_t version() const { return version_; }
  // Calls `visit(slot)` for each set() from `version` on. Returns false, and calls nothing, when the table does not
  // remember so many.
  template <typename Visit>
  bool visit_sets_from(uint64_t version, Visit&& visit) const {
    if (version_ - version > sets_.size()) return false;
    for (; version < version_; ++version) visit(sets_[version & (sets_.size() - 1)]);
    return true;
  }

 private:
  const uint64_t identity_;
  uint64_t version_ = 0;
  std::vector<BufferRange> ranges_;
  std::vector<uint32_t> sets_;  // The last ones, by version; a power of two of them.
};

}  // namespace baton::hal
