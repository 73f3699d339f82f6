// Allocator: buffers in device memory, and over memory of the host. New memory holds zeros.
//
// Threads: as hal::Allocator.
#pragma once

#include "hal/drivers/vulkan/buffer.hpp"

namespace baton::hal::drivers::vulkan {

class Allocator final : public hal::Allocator {
 public:
  Allocator(Ref<BufferSource> source, uint64_t buffer_bytes_max, hal::Device& device)
      : hal::Allocator(buffer_bytes_max, &device), source_(std::move(source)) {}

  MemoryUse memory_use() const override { return {source_->live_bytes, source_->peak_bytes}; }

 private:
  Result<Ref<hal::Buffer>> do_allocate(const AllocationRequest& request) override;
  Result<Ref<hal::Buffer>> do_import_host(std::span<std::byte> memory, BufferUsage usage,
                                          ImportRelease release) override;
  Result<Ref<hal::Buffer>> do_import_memory(const MemoryLocation& memory, uint64_t length, BufferUsage usage,
                                            ImportRelease release) override;
  Result<Ref<hal::Buffer>> do_import_peer(hal::Buffer& buffer) override;
  // Returns the submission that does it; 0: it is done.
  Result<uint64_t> clear(const Block& block);

  const Ref<BufferSource> source_;
};

}  // namespace baton::hal::drivers::vulkan
