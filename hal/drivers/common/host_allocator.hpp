// HostAllocator and HostBuffer: buffers in host memory, for every driver whose device is the host.
//
// Threads: as Allocator and Buffer.
#pragma once

#include <atomic>

#include "base/allocator.hpp"
#include "hal/allocator.hpp"
#include "hal/drivers/common/freed_blocks.hpp"
#include "hal/memory_owner.hpp"

namespace baton::hal {

class HostAllocator final : public Allocator {
 public:
  // Kernels may read a vector register beyond their last element's line, never beyond its page.
  static constexpr size_t kAlignment = 64;
  // What is asked for on top of a buffer's length: for aligning its beginning, and for the rest of its last line.
  static constexpr size_t kAlignmentRoom = 2 * kAlignment;

  HostAllocator(const baton::Allocator& memory, uint64_t buffer_bytes_max, Device* device = nullptr);

  MemoryUse memory_use() const override;
  bool uses_host_memory() const override { return true; }

  // Outlives the allocator when buffers do.
  struct Shared : RefCounted<Shared> {
    explicit Shared(const baton::Allocator& memory) : freed(memory) {}
    std::atomic<uint64_t> live_bytes{0};
    std::atomic<uint64_t> peak_bytes{0};
    FreedBlocks freed;
  };

 private:
  Result<Ref<Buffer>> do_allocate(const AllocationRequest& request) override;
  Result<Ref<Buffer>> do_import_host(std::span<std::byte> memory, BufferUsage usage, ImportRelease release) override;

  // A block of `bytes` for this thread's owner (MemoryOwner): its own freed memory as it was, or cleared memory. Its
  // length is 0 when there is no memory.
  FreedBlock block_of(uint64_t bytes);

  const baton::Allocator memory_;
  Ref<Shared> shared_;
};

class HostBuffer final : public Buffer {
 public:
  // Owns `block`, which came from `memory` and has room for aligning.
  HostBuffer(const Description& made, const FreedBlock& block, const baton::Allocator& memory,
             Ref<HostAllocator::Shared> shared);
  // Over memory that `release` gives back.
  HostBuffer(const Description& made, std::byte* data, ImportRelease release);
  HostBuffer(HostBuffer& root, uint64_t offset, uint64_t length);
  ~HostBuffer() override;

  std::byte* data() const { return data_; }
  MemoryLocation location() const override {
    return {MemorySpace::kHost, 0, static_cast<uint64_t>(reinterpret_cast<uintptr_t>(data_))};
  }

  using Buffer::Description;

 private:
  Result<Ref<Buffer>> do_subspan(uint64_t offset, uint64_t length) override;
  Result<std::byte*> do_map(Access access, uint64_t offset, uint64_t length) override;
  void do_unmap(std::byte* data, Access access, uint64_t offset, uint64_t length) override;

  std::byte* data_;
  FreedBlock block_;  // What is given back; without memory: imported or a subspan.
  baton::Allocator memory_{};
  Ref<HostAllocator::Shared> shared_;  // Null: imported or a subspan.
  ImportRelease release_;
};

// The caller knows that the buffer is one of a host driver (RecordingScope checked the allocator).
inline std::byte* host_data(const Buffer& buffer) { return static_cast<const HostBuffer&>(buffer).data(); }

}  // namespace baton::hal
