// Buffer: device-visible memory. BufferRange: a window on one, borrowed. Mapping: its bytes on the host, while it
// lives.
//
// A subspan is a buffer of its own that shares the memory of its root and keeps it alive. A peer
// (Allocator::import_peer) is one device's view of a buffer of another device, which it keeps alive. A buffer that was
// given back by Queue::free stays an object (recordings may still name it) but may not be used any more: freed() says
// so, and every use is refused by name.
// Threads: immutable but for freed(), which is atomic, and the contents: semaphores say which thread or
// command may touch them.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/ref.hpp"
#include "base/result.hpp"
#include "hal/memory.hpp"

namespace baton::hal {

class Allocator;
class Buffer;
class Mapping;

inline constexpr uint64_t kWholeLength = ~uint64_t{0};

struct BufferRange {
  Buffer* buffer = nullptr;
  uint64_t offset = 0;
  uint64_t length = kWholeLength;  // kWholeLength: up to the end of the buffer.

  BufferRange() = default;
  BufferRange(Buffer& whole) : buffer(&whole) {}                  // NOLINT: a buffer is a range of itself
  BufferRange(const Ref<Buffer>& whole) : buffer(whole.get()) {}  // NOLINT
  BufferRange(Buffer* of, uint64_t offset_bytes, uint64_t length_bytes)
      : buffer(of), offset(offset_bytes), length(length_bytes) {}
};

class Buffer : public RefCounted<Buffer> {
 public:
  virtual ~Buffer() = default;

  uint64_t length() const { return length_; }
  MemoryKind memory() const { return memory_; }
  BufferUsage usage() const { return usage_; }
  // The allocator that made it; tells whether a device may use it.
  const Allocator* allocator() const { return allocator_; }

  // The buffer whose memory this is: itself unless it is a subspan.
  const Buffer& root() const { return root_ ? *root_ : *this; }
  uint64_t root_offset() const { return root_offset_; }

  // The buffer whose memory this is (allocated or imported, on any device), and the offset in it.
  const Buffer& owner() const { return is_peer() ? root().origin_->root() : root(); }
  uint64_t owner_offset() const { return is_peer() ? root_offset_ + root().origin_->root_offset_ : root_offset_; }
  bool is_peer() const { return static_cast<bool>(root().origin_); }
  // Its first byte, for others.
  virtual MemoryLocation location() const { return {}; }

  bool freed() const { return owners_freed_->load(std::memory_order_relaxed); }
  // False when it was freed before. For Queue::free.
  bool mark_freed() { return !freed_.exchange(true); }

  Result<Ref<Buffer>> subspan(uint64_t offset, uint64_t length);
  // The caller holds the semaphores that make the contents its own.
  Result<Mapping> map(Access access, uint64_t offset = 0, uint64_t length = kWholeLength);

 protected:
  struct Description {
    const Allocator* allocator;
    uint64_t length;
    MemoryKind memory;
    BufferUsage usage;
  };
  explicit Buffer(const Description& made)
      : allocator_(made.allocator), length_(made.length), memory_(made.memory), usage_(made.usage) {}
  Buffer(Buffer& root, uint64_t root_offset, uint64_t length)
      : allocator_(root.allocator_),
        length_(length),
        memory_(root.memory_),
        usage_(root.usage_),
        root_(&root),
        root_offset_(root_offset),
        owners_freed_(root.owners_freed_) {}

 private:
  friend class Allocator;
  friend class Mapping;

  // A window on this root buffer, as one more buffer that retains it.
  virtual Result<Ref<Buffer>> do_subspan(uint64_t offset, uint64_t length) = 0;
  virtual Result<std::byte*> do_map(Access access, uint64_t offset, uint64_t length) = 0;
  virtual void do_unmap(std::byte* data, Access access, uint64_t offset, uint64_t length) = 0;

  const Allocator* allocator_;
  uint64_t length_;
  MemoryKind memory_;
  BufferUsage usage_;
  Ref<Buffer> root_;
  uint64_t root_offset_ = 0;
  Ref<Buffer> origin_;  // Of a peer: what it is a view of, itself no peer. Set before the peer is handed out.
  std::atomic<bool> freed_{false};
  const std::atomic<bool>* owners_freed_ = &freed_;  // The owner's: every binding is asked.
};

// Unmaps when it dies.
// Threads: externally synchronized.
class Mapping {
 public:
  Mapping(Mapping&& other) noexcept = default;
  Mapping& operator=(Mapping&&) = delete;
  ~Mapping();

  std::span<std::byte> bytes() const { return {data_, static_cast<size_t>(length_)}; }
  template <typename T>
  std::span<T> as() const {
    return {reinterpret_cast<T*>(data_), static_cast<size_t>(length_ / sizeof(T))};
  }

 private:
  friend class Buffer;
  Mapping(Ref<Buffer> buffer, std::byte* data, Access access, uint64_t offset, uint64_t length)
      : buffer_(std::move(buffer)), data_(data), access_(access), offset_(offset), length_(length) {}

  Ref<Buffer> buffer_;
  std::byte* data_;
  Access access_;
  uint64_t offset_;
  uint64_t length_;
};

// The length that `range` means, kWholeLength resolved; 0 when it starts behind the end.
inline uint64_t range_length(const BufferRange& range) {
  if (range.length != kWholeLength) return range.length;
  return range.offset <= range.buffer->length() ? range.buffer->length() - range.offset : 0;
}

}  // namespace baton::hal
