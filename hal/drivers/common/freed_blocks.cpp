#include "hal/drivers/common/freed_blocks.hpp"

#include <algorithm>

namespace baton::hal {

FreedBlock FreedBlocks::take(uint64_t owner, uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  size_t best = count_;
  for (size_t i = 0; i < count_; ++i) {
    const bool fits = blocks_[i].owner == owner && blocks_[i].bytes >= bytes && blocks_[i].bytes / 2 <= bytes;
    if (fits && (best == count_ || blocks_[i].bytes < blocks_[best].bytes)) best = i;
  }
  return best == count_ ? FreedBlock() : remove(best);
}

void FreedBlocks::keep(const FreedBlock& block) {
  if (block.bytes > kBytesMax) return memory_.free(block.memory);
  const std::lock_guard lock(mutex_);
  while (count_ == kCountMax || bytes_ + block.bytes > kBytesMax) memory_.free(remove(0).memory);
  blocks_[count_++] = block;
  bytes_ += block.bytes;
}

void FreedBlocks::give_back() {
  const std::lock_guard lock(mutex_);
  while (count_ > 0) memory_.free(remove(count_ - 1).memory);
}

FreedBlock FreedBlocks::remove(size_t index) {
  const FreedBlock removed = blocks_[index];
  std::move(blocks_.begin() + static_cast<ptrdiff_t>(index) + 1, blocks_.begin() + static_cast<ptrdiff_t>(count_),
            blocks_.begin() + static_cast<ptrdiff_t>(index));
  --count_;
  bytes_ -= removed.bytes;
  return removed;
}

}  // namespace baton::hal
