// KeptBlocks: blocks that buffers gave back, of one heap, kept for who needs one as large. A large one costs
// milliseconds to take from the driver, and clearing any costs a submission; an owner's own block needs neither.
//
// Threads: externally synchronized.
#pragma once

#include <deque>
#include <optional>
#include <vector>

#include "hal/drivers/vulkan/block.hpp"

namespace baton::hal::drivers::vulkan {

class KeptBlocks {
 public:
  explicit KeptBlocks(uint64_t bytes_max) : bytes_max_(bytes_max) {}

  // A block of memory of `type` with at least `length` bytes and little more: the owner's own, or else a slab.
  std::optional<Block> take(uint32_t type, uint64_t length, uint64_t owner);
  // Keeps it. Returns those that make room, the oldest first; it is among them where it is too large.
  std::vector<Block> keep(const Block& block);
  std::vector<Block> take_all();

 private:
  static constexpr size_t kCountMax = 256;

  const uint64_t bytes_max_;
  std::deque<Block> blocks_;  // The oldest first.
  uint64_t bytes_ = 0;
};

}  // namespace baton::hal::drivers::vulkan
