// Memory for things that die together: a bump pointer over blocks that go back to a pool when the arena dies.
//
// A recording lives in one. Making and dropping recordings in a steady state allocates nothing: the blocks go round.
// What an arena holds is not destroyed, only forgotten; so it must be trivially destructible.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <span>
#include <type_traits>
#include <utility>

#include "base/allocator.hpp"

namespace baton {

// Threads: internally synchronized.
class BlockPool {
 public:
  struct alignas(64) Block {
    Block* next;
    size_t size_bytes;  // Of what follows this head.
    std::byte* data() { return reinterpret_cast<std::byte*>(this + 1); }
  };

  explicit BlockPool(const Allocator& allocator = system_allocator()) : allocator_(allocator) {}
  ~BlockPool();
  BlockPool(const BlockPool&) = delete;
  BlockPool& operator=(const BlockPool&) = delete;

  // A block of the usual size, or a larger one when `size_bytes` needs it.
  Block* take(size_t size_bytes);
  // Takes back a chain of blocks; those of unusual size, and more than a pool should hold, are freed.
  void give(Block* first);

 private:
  static constexpr size_t kBlockBytes = 32 * 1024 - sizeof(Block);
  static constexpr size_t kFreeBlocksMax = 64;

  const Allocator allocator_;
  // The block that was given last: a thread that makes one recording after the other takes no lock.
  std::atomic<Block*> spare_{nullptr};
  std::mutex mutex_;
  Block* free_ = nullptr;
  size_t free_count_ = 0;
};

// Threads: externally synchronized.
class Arena {
 public:
  explicit Arena(BlockPool& pool) : pool_(pool) {}
  ~Arena() { pool_.give(blocks_); }
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  // `alignment` is a power of two, at most 64.
  void* allocate(size_t size_bytes, size_t alignment = alignof(std::max_align_t)) {
    const uintptr_t start = (position_ + alignment - 1) & ~(alignment - 1);
    if (start > end_ || size_bytes > end_ - start) [[unlikely]]
      return allocate_in_new_block(size_bytes);
    position_ = start + size_bytes;
    return reinterpret_cast<void*>(start);
  }

  template <typename T>
  T* allocate_array(size_t count) {
    static_assert(std::is_trivially_destructible_v<T>);
    return static_cast<T*>(allocate(count * sizeof(T), alignof(T)));
  }

  template <typename T, typename... Arguments>
  T* make(Arguments&&... arguments) {
    return new (allocate_array<T>(1)) T{std::forward<Arguments>(arguments)...};
  }

  template <typename T>
  std::span<const T> copy(std::span<const T> source) {
    static_assert(std::is_trivially_copyable_v<T>);
    if (source.empty()) return {};
    T* target = allocate_array<T>(source.size());
    std::memcpy(static_cast<void*>(target), source.data(), source.size_bytes());
    return {target, source.size()};
  }

 private:
  void* allocate_in_new_block(size_t size_bytes);

  BlockPool& pool_;
  BlockPool::Block* blocks_ = nullptr;
  uintptr_t position_ = 0;
  uintptr_t end_ = 0;
};

// A list that grows in an arena without moving what it holds.
template <typename T>
class ArenaList {
 public:
  void push(Arena& arena, const T& item) {
    if (!last_ || last_->count == kChunkItems) [[unlikely]]
      add_chunk(arena);
    last_->items[last_->count++] = item;
    ++size_;
  }
  size_t size() const { return size_; }

  template <typename Visit>
  void for_each(Visit&& visit) const {
    for (const Chunk* chunk = first_; chunk; chunk = chunk->next)
      for (uint32_t i = 0; i < chunk->count; ++i) visit(chunk->items[i]);
  }

 private:
  static constexpr uint32_t kChunkItems = 14;
  struct Chunk {
    Chunk* next;
    uint32_t count;
    T items[kChunkItems];
  };
  static_assert(std::is_trivially_copyable_v<T>);

  void add_chunk(Arena& arena) {
    Chunk* chunk = arena.allocate_array<Chunk>(1);
    chunk->next = nullptr;
    chunk->count = 0;
    (last_ ? last_->next : first_) = chunk;
    last_ = chunk;
  }

  Chunk* first_ = nullptr;
  Chunk* last_ = nullptr;
  size_t size_ = 0;
};

}  // namespace baton
