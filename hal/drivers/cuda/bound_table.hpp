// BoundTable: what a table put into the slots of a recording that runs as a graph.
//
// Whoever executes with a large table again and again changes little of it. So the graph compares a table with the last
// one as bytes, and checks, retains and patches what differs: 1000 slots compare in less than a microsecond, and took
// 20 to be looked at one by one. Of a SlotTable it looks only at what was set since. The comparison holds while the
// last table's buffers are alive: the marks of its executions keep it, and when they are done the stream does for a few
// milliseconds more (Stream::reap), unless memory is short or the recording goes. Threads: changed by the graph, under
// its lock, which holds it then.
#pragma once

#include <vector>

#include "hal/binding_table.hpp"
#include "hal/drivers/cuda/mark.hpp"

namespace baton::hal::drivers::cuda {

struct BoundTable {
  std::vector<BufferRange> ranges;        // By slot, as they were given.
  std::vector<Ref<hal::Buffer>> buffers;  // The same, kept; null where no command uses the slot.
  bool has_peers = false;                 // Some are views of buffers of other devices, which may free them.
  // Of the SlotTable that they are from, then; 0: of none.
  uint64_t identity = 0;
  uint64_t version = 0;
};

}  // namespace baton::hal::drivers::cuda
