#include "hal/drivers/vulkan/allocator.hpp"

#include <algorithm>
#include <cstring>

#include "base/bytes.hpp"

namespace baton::hal::drivers::vulkan {
namespace {

// What the host clears through a bus: less than a submission costs.
constexpr uint64_t kClearedByHostMax = 16 * 1024;

BlockKind block_kind(MemoryKind memory) {
  const bool local = has_all(memory, MemoryKind::kDeviceLocal);
  if (!has_all(memory, MemoryKind::kHostVisible)) return BlockKind::kDevice;
  if (local) return BlockKind::kDeviceVisible;
  return has_all(memory, MemoryKind::kHostCached) ? BlockKind::kHostCached : BlockKind::kHost;
}

}  // namespace

// A block may have been another program's. All of it is cleared: a later buffer of this owner may be longer.
Result<uint64_t> Allocator::clear(const Block& block) {
  if (block.host() && (block.slab->host_cached || block.length <= kClearedByHostMax)) {
    std::memset(block.host(), 0, static_cast<size_t>(block.length));
    return uint64_t{0};
  }
  return source_->commands->fill_zeros({block.slab->buffer, block.offset, block.length});
}

Result<Ref<hal::Buffer>> Allocator::do_allocate(const AllocationRequest& request) {
  const uint64_t owner = MemoryOwner::current();
  auto taken = source_->memory->take(request.length, block_kind(request.memory), owner);
  if (!taken.has_value()) {  // Tables that are kept for a while may hold some.
    source_->commands->timeline().drop_tables();
    taken = source_->memory->take(request.length, block_kind(request.memory), owner);
  }
  BATON_TRY_ASSIGN(Block block, std::move(taken));
  auto ready = owner != MemoryOwner::kNobody && block.owner == owner ? Result<uint64_t>(0) : clear(block);
  block.owner = owner;
  if (!ready.has_value()) {
    source_->memory->give(block);
    return std::move(ready).error();
  }
  const uint64_t live = source_->live_bytes.fetch_add(request.length) + request.length;
  uint64_t peak = source_->peak_bytes;
  while (peak < live && !source_->peak_bytes.compare_exchange_weak(peak, live)) {
  }
  const Buffer::Description made{this, request.length, request.memory, request.usage};
  return Ref<hal::Buffer>(make_ref<Buffer>(made, source_, block, *ready, true, ImportRelease{}));
}

Result<Ref<hal::Buffer>> Allocator::do_import_host(std::span<std::byte> memory, BufferUsage usage,
                                                   ImportRelease release) {
  auto block = source_->memory->import_host(memory);
  if (!block.has_value()) {
    const auto address = static_cast<uint64_t>(reinterpret_cast<uintptr_t>(memory.data()));
    return out_of_reach({MemorySpace::kHost, 0, address}, memory.size(), usage, block.error().message());
  }
  const Buffer::Description made{this, memory.size(), MemoryKind::kHostVisible, usage};
  return Ref<hal::Buffer>(make_ref<Buffer>(made, source_, *block, uint64_t{0}, false, release));
}

Result<Ref<hal::Buffer>> Allocator::do_import_memory(const MemoryLocation& memory, uint64_t length, BufferUsage usage,
                                                     ImportRelease release) {
  std::byte* const data = memory.space == MemorySpace::kHost ? memory.host() : nullptr;
  if (!data && length != 0) return out_of_reach(memory, length, usage, "it reaches only what the host allocated");
  return do_import_host({data, static_cast<size_t>(length)}, usage, release);
}

// What another driver mapped is no allocation of the host. To import it as one is against the rules of
// VK_EXT_external_memory_host, and a device may answer with anything.
Result<Ref<hal::Buffer>> Allocator::do_import_peer(hal::Buffer& buffer) {
  if (buffer.allocator()->uses_host_memory()) {
    return do_import_memory(buffer.location(), buffer.length(), buffer.usage(), {});
  }
  return out_of_reach(buffer.location(), buffer.length(), buffer.usage(), "another driver mapped it");
}

}  // namespace baton::hal::drivers::vulkan
