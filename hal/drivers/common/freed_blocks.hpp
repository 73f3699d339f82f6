// FreedBlocks: large blocks of host memory that buffers gave back, kept for the owner that had them. Clearing a block
// of 4 MiB, or taking its pages from the system anew, costs as much as computing a softmax over it does.
//
// Threads: internally synchronized.
#pragma once

#include <array>
#include <cstdint>
#include <mutex>

#include "base/allocator.hpp"

namespace baton::hal {

struct FreedBlock {
  void* memory = nullptr;
  uint64_t bytes = 0;
  uint64_t owner = 0;
};

class FreedBlocks {
 public:
  // Smaller blocks are cleared each time (16 KiB in 0.14 us), and leave the few places to large ones.
  static constexpr uint64_t kBytesMin = 64 * 1024;
  static constexpr uint64_t kBytesMax = 256 * 1024 * 1024;

  explicit FreedBlocks(const baton::Allocator& memory) : memory_(memory) {}
  ~FreedBlocks() { give_back(); }

  // The owner's smallest block that has so many bytes, and at most twice as many; an empty block when there is none.
  FreedBlock take(uint64_t owner, uint64_t bytes);
  // Keeps the block; the oldest ones make room.
  void keep(const FreedBlock& block);
  // Gives all back to the allocator.
  void give_back();

 private:
  static constexpr size_t kCountMax = 16;

  // Takes out the block at `index`, the oldest being at 0.
  FreedBlock remove(size_t index);

  const baton::Allocator memory_;
  std::mutex mutex_;
  std::array<FreedBlock, kCountMax> blocks_;
  size_t count_ = 0;
  uint64_t bytes_ = 0;
};

}  // namespace baton::hal
