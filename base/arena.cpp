#include "base/arena.hpp"

#include <algorithm>

namespace baton {

BlockPool::~BlockPool() {
  if (Block* spare = spare_.load()) allocator_.free(spare);
  while (free_) allocator_.free(std::exchange(free_, free_->next));
}

BlockPool::Block* BlockPool::take(size_t size_bytes) {
  if (size_bytes <= kBlockBytes) {
    if (spare_.load(std::memory_order_relaxed)) {
      if (Block* spare = spare_.exchange(nullptr, std::memory_order_acquire)) return spare;
    }
    std::lock_guard lock(mutex_);
    if (free_) {
      --free_count_;
      return std::exchange(free_, free_->next);
    }
  }
  const size_t block_bytes = std::max(size_bytes, kBlockBytes);
  auto* block = static_cast<Block*>(allocator_.allocate(sizeof(Block) + block_bytes, alignof(Block)));
  block->size_bytes = block_bytes;
  return block;
}

void BlockPool::give(Block* first) {
  if (!first) return;
  if (!first->next && first->size_bytes == kBlockBytes) {
    Block* none = nullptr;
    if (spare_.compare_exchange_strong(none, first, std::memory_order_release, std::memory_order_relaxed)) return;
  }
  std::lock_guard lock(mutex_);
  while (first) {
    Block* block = std::exchange(first, first->next);
    if (block->size_bytes == kBlockBytes && free_count_ < kFreeBlocksMax) {
      block->next = std::exchange(free_, block);
      ++free_count_;
    } else {
      allocator_.free(block);
    }
  }
}

void* Arena::allocate_in_new_block(size_t size_bytes) {
  BlockPool::Block* block = pool_.take(size_bytes);
  block->next = std::exchange(blocks_, block);
  // Blocks start on 64 bytes, so their first object is aligned however it wants to be.
  const auto start = reinterpret_cast<uintptr_t>(block->data());
  position_ = start + size_bytes;
  end_ = start + block->size_bytes;
  return block->data();
}

}  // namespace baton
