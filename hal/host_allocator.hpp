// HostAllocator and HostBuffer: buffers in host memory, for every driver whose device is the host.
//
// Threads: as Allocator and Buffer.
#pragma once

#include <atomic>

#include "base/allocator.hpp"
#include "hal/allocator.hpp"

namespace baton::hal {

class HostAllocator final : public Allocator {
 public:
  // Kernels may read a vector register beyond their last element's line, never beyond its page.
  static constexpr size_t kAlignment = 64;

  HostAllocator(const baton::Allocator& memory, uint64_t buffer_bytes_max, Device* device = nullptr);

  MemoryUse memory_use() const override;
  bool uses_host_memory() const override { return true; }

  // Outlives the allocator when buffers do.
  struct Counters : RefCounted<Counters> {
    std::atomic<uint64_t> live_bytes{0};
    std::atomic<uint64_t> peak_bytes{0};
  };

 private:
  Result<Ref<Buffer>> do_allocate(const AllocationRequest& request) override;
  Result<Ref<Buffer>> do_import_host(std::span<std::byte> memory, BufferUsage usage, ImportRelease release) override;

  const baton::Allocator memory_;
  Ref<Counters> counters_;
};

class HostBuffer final : public Buffer {
 public:
  // Owns `data`, which came from `memory`.
  HostBuffer(const Description& made, std::byte* data, const baton::Allocator& memory,
             Ref<HostAllocator::Counters> counters);
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
  baton::Allocator memory_{};
  Ref<HostAllocator::Counters> counters_;  // Null: imported or a subspan.
  ImportRelease release_;
};

// Whoever holds a buffer of a host driver knows that it is one (RecordingScope checked the allocator).
inline std::byte* host_data(const Buffer& buffer) { return static_cast<const HostBuffer&>(buffer).data(); }

}  // namespace baton::hal
