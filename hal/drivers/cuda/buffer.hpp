// Buffer: device memory, pinned host memory that the device sees, or memory that another library owns.
//
// Device memory can be mapped too: a mapping is a copy in pinned memory, fetched when it is made, unless what it holds
// is not wanted, and put back when it ends, if it may have been written.
// Threads: as hal::Buffer.
#pragma once

#include "hal/allocator.hpp"
#include "hal/drivers/cuda/memory.hpp"

namespace baton::hal::drivers::cuda {

class Buffer final : public hal::Buffer {
 public:
  using hal::Buffer::Description;

  // Owns `block`. Pinned when it has a host address.
  Buffer(const Description& made, Ref<Memory> memory, Block block);
  // Over memory that `release` gives back; `host` may be null. `registered`: pages pinned by us, to be let go of.
  Buffer(const Description& made, Ref<Memory> memory, CUdeviceptr address, std::byte* host, bool registered,
         ImportRelease release);
  Buffer(Buffer& root, uint64_t offset, uint64_t length);
  ~Buffer() override;

  CUdeviceptr address() const { return address_; }
  std::byte* host() const { return host_; }
  Memory& pool() const { return *memory_; }
  MemoryLocation location() const override;

  // Queue::free: the memory goes back now, to be used by others after `busy_until`.
  void give_back(Ref<Mark> busy_until);

 private:
  Result<Ref<hal::Buffer>> do_subspan(uint64_t offset, uint64_t length) override;
  Result<std::byte*> do_map(Access access, uint64_t offset, uint64_t length) override;
  void do_unmap(std::byte* data, Access access, uint64_t offset, uint64_t length) override;

  const Ref<Memory> memory_;
  const CUdeviceptr address_;
  std::byte* const host_;
  Block block_;  // Empty: not ours, or given back.
  bool registered_ = false;
  ImportRelease release_;

  struct Mapped {
    std::byte* data;
    Block staging;
  };
  std::mutex mapped_mutex_;
  std::vector<Mapped> mapped_;  // Guarded by mapped_mutex_.
};

}  // namespace baton::hal::drivers::cuda
