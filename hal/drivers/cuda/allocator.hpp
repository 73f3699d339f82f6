// Allocator: buffers in device memory, in pinned host memory, and over memory of others: of libraries, of devices.
//
// host_visible alone is pinned host memory that the device reads over its bus; everything device_local is device
// memory, whose mappings are copies (buffer.hpp).
// Threads: as hal::Allocator.
#pragma once

#include "hal/drivers/cuda/buffer.hpp"

namespace baton::hal::drivers::cuda {

class Allocator final : public hal::Allocator {
 public:
  Allocator(Ref<Memory> memory, uint64_t buffer_bytes_max, hal::Device& device)
      : hal::Allocator(buffer_bytes_max, &device), memory_(std::move(memory)) {}

  MemoryUse memory_use() const override { return {memory_->live_bytes(), memory_->peak_bytes()}; }

  // A buffer over device memory that another library of this process owns (a CUDA pointer, a DLPack tensor's data). The
  // pointer must belong to this device. On a failure `release` is not called.
  Result<Ref<hal::Buffer>> import_device(CUdeviceptr address, uint64_t length, BufferUsage usage,
                                         ImportRelease release = {});

 private:
  Result<Ref<hal::Buffer>> do_allocate(const AllocationRequest& request) override;
  Result<Ref<hal::Buffer>> do_import_host(std::span<std::byte> memory, BufferUsage usage,
                                          ImportRelease release) override;
  Result<Ref<hal::Buffer>> do_import_memory(const MemoryLocation& memory, uint64_t length, BufferUsage usage,
                                            ImportRelease release) override;
  Result<Ref<hal::Buffer>> do_import_peer(hal::Buffer& buffer) override;
  Result<Ref<hal::Buffer>> import_pinned(const MemoryLocation& memory, uint64_t length, BufferUsage usage,
                                         ImportRelease release);
  // A buffer over `part` of `pages`, which are pinned as a whole.
  Result<Ref<hal::Buffer>> import_pages(std::span<std::byte> pages, std::span<std::byte> part, BufferUsage usage,
                                        ImportRelease release);
  // What libcuda knows of an address.
  Result<int> ask_pointer(CUpointer_attribute what, CUdeviceptr address) const;

  const Ref<Memory> memory_;
};

}  // namespace baton::hal::drivers::cuda
