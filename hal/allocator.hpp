// Allocator: memory kind and size → Buffer. Also takes memory that others own into use: of the host, of other
// libraries, of other devices.
//
// Threads: internally synchronized.
#pragma once

#include <span>

#include "hal/buffer.hpp"

namespace baton::hal {

class Device;

struct AllocationRequest {
  uint64_t length = 0;
  MemoryKind memory = MemoryKind::kDeviceLocal | MemoryKind::kHostVisible;
  BufferUsage usage = BufferUsage::kAll;
};

// Called once, when the last reference to an imported buffer is gone.
struct ImportRelease {
  void (*release)(void* data) = nullptr;
  void* data = nullptr;
};

struct MemoryUse {
  uint64_t live_bytes;
  uint64_t peak_bytes;
};

class Allocator {
 public:
  virtual ~Allocator() = default;

  // RESOURCE_EXHAUSTED when the device has no more. Memory of the host is zero: what others left in it can't be read.
  Result<Ref<Buffer>> allocate(const AllocationRequest& request);
  // A buffer over host memory that stays where it is. On a failure `release` is not called.
  Result<Ref<Buffer>> import_host(std::span<std::byte> memory, BufferUsage usage, ImportRelease release = {});

  // A buffer over memory that another library of this process owns. On a failure `release` is not called.
  Result<Ref<Buffer>> import_memory(const MemoryLocation& memory, uint64_t length, BufferUsage usage,
                                    ImportRelease release = {});
  // A buffer of this device over the memory of a buffer of another one, which it keeps alive and whose usage it has;
  // the buffer itself when it is of this device. What the other device does with the memory is ordered by semaphores
  // and nothing else. UNIMPLEMENTED, naming both, where this device cannot reach that memory.
  Result<Ref<Buffer>> import_peer(Buffer& buffer);

  virtual MemoryUse memory_use() const = 0;
  // Whether the device works in host memory: then what import_host() takes is used where it is, at no price.
  virtual bool uses_host_memory() const { return false; }

  // Whose it is; null for an allocator that stands alone.
  Device* device() const { return device_; }

 protected:
  explicit Allocator(uint64_t buffer_bytes_max, Device* device = nullptr)
      : buffer_bytes_max_(buffer_bytes_max), device_(device) {}

  // Why this device cannot have it, both named.
  Status out_of_reach(const MemoryLocation& memory, uint64_t length, BufferUsage usage, std::string_view reason) const;

 private:
  virtual Result<Ref<Buffer>> do_allocate(const AllocationRequest& request) = 0;
  virtual Result<Ref<Buffer>> do_import_host(std::span<std::byte> memory, BufferUsage usage, ImportRelease release) = 0;
  // A device that works in host memory has these two as they are: it takes what the host can reach.
  virtual Result<Ref<Buffer>> do_import_memory(const MemoryLocation& memory, uint64_t length, BufferUsage usage,
                                               ImportRelease release);
  virtual Result<Ref<Buffer>> do_import_peer(Buffer& buffer);

  uint64_t buffer_bytes_max_;
  Device* device_;
};

}  // namespace baton::hal
