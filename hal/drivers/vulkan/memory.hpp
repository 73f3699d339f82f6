// Memory: slabs of device memory, one VkBuffer over each, and blocks of them. A buffer of the HAL is a block, so making
// one costs no call of Vulkan.
//
// A large block has a slab of its own. What is given back is kept for a while, if it is large or somebody's own
// (kept_blocks.hpp). Unused slabs go back to the driver, but for one of each type.
// Threads: internally synchronized.
#pragma once

#include <array>
#include <memory>
#include <mutex>
#include <vector>

#include "hal/drivers/vulkan/block.hpp"
#include "hal/drivers/vulkan/context.hpp"
#include "hal/drivers/vulkan/kept_blocks.hpp"
#include "hal/memory.hpp"

namespace baton::hal::drivers::vulkan {

// What a block is for; each has its order of types of memory that are tried.
enum class BlockKind {
  kDevice,         // Fast for the device; the host need not see it.
  kDeviceVisible,  // Fast for the device, and the host sees it where that is possible.
  kHost,           // The host writes it, the device reads it.
  kHostCached,     // The host reads it fast.
};
constexpr size_t kBlockKindCount = 4;

class Memory final : public RefCounted<Memory> {
 public:
  explicit Memory(Ref<Context> context);
  ~Memory();

  Context& context() const { return *context_; }

  // The block holds what `owner` left in it, where it is that owner's, or else anything. RESOURCE_EXHAUSTED when no type
  // that fits has as much.
  Result<Block> take(uint64_t length, BlockKind kind, uint64_t owner = MemoryOwner::kNobody);
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
  Result<Block> take_of(uint32_t type, uint64_t length, uint64_t owner);
  Result<Block> take_from(uint32_t type, uint64_t length);
  void put_back(const Block& block);
  std::vector<uint32_t> types_for(BlockKind kind) const;
  KeptBlocks& kept_of(uint32_t type) { return kept_[context_->facts().memory.memoryTypes[type].heapIndex]; }

  const Ref<Context> context_;
  std::array<std::vector<uint32_t>, kBlockKindCount> types_;  // For each kind, the best first.
  std::mutex mutex_;
  // Guarded by mutex_:
  std::vector<std::unique_ptr<Slab>> slabs_;
  std::vector<KeptBlocks> kept_;  // For each heap.
};

}  // namespace baton::hal::drivers::vulkan
