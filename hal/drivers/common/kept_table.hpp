// KeptTable: a binding table that outlives the call that brought it, and keeps its buffers.
//
// Threads: immutable.
#pragma once

#include <vector>

#include "hal/binding_table.hpp"

namespace baton::hal {

class KeptTable {
 public:
  explicit KeptTable(const BindingTable& table)
      : ranges_(table.buffers.begin(), table.buffers.end()),
        constants_(table.constants.begin(), table.constants.end()) {
    buffers_.reserve(ranges_.size());
    for (const BufferRange& range : ranges_) buffers_.emplace_back(range.buffer);
  }

  // Of no SlotTable, which may change before the operation runs.
  BindingTable table() const { return {ranges_, constants_}; }

 private:
  std::vector<BufferRange> ranges_;
  std::vector<uint32_t> constants_;
  std::vector<Ref<Buffer>> buffers_;
};

}  // namespace baton::hal
