// PinnedPages: host memory that was pinned for CUDA where it is, and for how many.
//
// The driver pins a range once for the process, and one call lets go of it for all devices; so who pins it is counted
// for the process, too.
// Threads: internally synchronized.
#pragma once

#include <mutex>
#include <span>
#include <vector>

#include "hal/drivers/cuda/symbols.hpp"

namespace baton::hal::drivers::cuda {

class PinnedPages {
 public:
  static PinnedPages& of_process();

  // A context is current in all of these.
  // Pins `memory`, unless others have: then `ours` is false, and it is not let go of here.
  CUresult pin(const Symbols& symbols, std::span<std::byte> memory, bool& ours);
  // Of what was pinned with `part` in it, one less.
  void unpin(const Symbols& symbols, std::span<std::byte> part);

 private:
  struct Range {
    std::span<std::byte> memory;
    uint32_t count;
    bool contains(std::span<std::byte> part) const {
      return part.data() >= memory.data() && part.data() + part.size() <= memory.data() + memory.size();
    }
  };
  Range* find(std::span<std::byte> part);

  std::mutex mutex_;
  std::vector<Range> ranges_;  // Guarded by mutex_.
};

}  // namespace baton::hal::drivers::cuda
