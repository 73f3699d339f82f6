// Memory: slabs of device memory, one VkBuffer over each, and blocks of them. A buffer of the HAL is a block, so making
// one costs no call of Vulkan.
//
// A large block has a slab of its own. Unused slabs go back, but for one of each type.
// Threads: internally synchronized.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "hal/drivers/vulkan/context.hpp"
#include "hal/drivers/vulkan/memory_ranges.hpp"
#include "hal/memory.hpp"

namespace baton::hal::drivers::vulkan {

struct Slab {
  uint64_t id = 0;  // No two slabs of a process ever have the same.
  VkDeviceMemory memory = VK_NULL_HANDLE;
  VkBuffer buffer = VK_NULL_HANDLE;
  uint64_t address = 0;
  std::byte* host = nullptr;  // Null: the host cannot see it.
  bool host_cached = false;   // The host reads it fast.
  uint64_t length = 0;
  uint32_t type = 0;
  std::unique_ptr<MemoryRanges> ranges = nullptr;  // Null: the slab is one block.
};

// Part of a slab. A plain value: who takes one gives it back.
struct Block {
  Slab* slab = nullptr;
  uint64_t offset = 0;
  uint64_t length = 0;

  uint64_t address() const { return slab->address + offset; }
  std::byte* host() const { return slab->host ? slab->host + offset : nullptr; }
};

// What a block is for; each has its order of types of memory that are tried.
enum class BlockKind {
  kDevice,         // Fast for the device; the host need not see it.
  kDeviceVisible,  // Fast for the device, and the host sees it where that is possible.
  kHost,           // The host writes it, the device reads it.
  kHostCached,     // The host reads it fast.
};

class Memory final : public RefCounted<Memory> {
 public:
  explicit Memory(Ref<Context> context) : context_(std::move(context)) {}
  ~Memory();

  Context& context() const { return *context_; }

  // What the block holds is anything. RESOURCE_EXHAUSTED when no type that fits has as much.
  Result<Block> take(uint64_t length, BlockKind kind);
  // The device is through with it.
  void give(const Block& block);
  // A block over pages of the host, which stay where they are. UNIMPLEMENTED where the device cannot.
  Result<Block> import_host(std::span<std::byte> memory);

 private:
  struct SlabRequest {
    uint64_t length;
    uint32_t type;
    void* imported = nullptr;
  };

  Result<std::unique_ptr<Slab>> make_slab(const SlabRequest& request);
  Status bind(Slab& slab, const SlabRequest& request) const;
  void destroy(Slab& slab) const;
  Result<Block> take_from(uint32_t type, uint64_t length);
  std::vector<uint32_t> types_for(BlockKind kind) const;

  const Ref<Context> context_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Slab>> slabs_;  // Guarded by mutex_.
};

}  // namespace baton::hal::drivers::vulkan
