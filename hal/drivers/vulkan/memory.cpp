#include "hal/drivers/vulkan/memory.hpp"

#include <algorithm>
#include <bit>

#include "base/bytes.hpp"

namespace baton::hal::drivers::vulkan {
namespace {

constexpr uint64_t kSlabBytes = 16 << 20;
// A block that is larger has a slab of its own: sharing it would leave gaps.
constexpr uint64_t kSharedBytesMax = kSlabBytes / 4;
// Beyond this an eighth would be a lot to waste: whole pages of the driver.
constexpr uint64_t kExactFrom = uint64_t{64} << 20;
constexpr uint64_t kDriverPage = uint64_t{2} << 20;
// What is kept of a heap: a part of the device's own, and of the host's what hal::FreedBlocks keeps.
constexpr uint64_t kKeptPart = 4;
constexpr uint64_t kKeptOfHost = uint64_t{256} << 20;
// No device wants more of a binding's offset, and what the host writes shares no line with what the device writes.
constexpr uint64_t kGranule = 256;

constexpr VkBufferUsageFlags kUsage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT |
                                      VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_INDIRECT_BUFFER_BIT |
                                      VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT;

constexpr VkMemoryPropertyFlags kLocal = VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT;
constexpr VkMemoryPropertyFlags kVisible = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
constexpr VkMemoryPropertyFlags kCached = VK_MEMORY_PROPERTY_HOST_CACHED_BIT;

std::atomic<uint64_t> last_slab_id{0};

// The properties that are tried for a kind, the best first.
std::vector<VkMemoryPropertyFlags> wishes(BlockKind kind) {
  switch (kind) {
    case BlockKind::kDevice: return {kLocal, 0};
    case BlockKind::kDeviceVisible: return {kLocal | kVisible, kLocal, kVisible};
    case BlockKind::kHost: return {kVisible | kCached, kVisible};
    case BlockKind::kHostCached: return {kVisible | kCached, kVisible};
  }
  return {};
}

// Lengths that differ a little have slabs of one length.
uint64_t slab_bytes(uint64_t length) {
  return align_up(length, length >= kExactFrom ? kDriverPage : std::bit_floor(length) / 8);
}

}  // namespace

Memory::Memory(Ref<Context> context) : context_(std::move(context)) {
  for (size_t kind = 0; kind < kBlockKindCount; ++kind) types_[kind] = types_for(static_cast<BlockKind>(kind));
  const DeviceFacts& facts = context_->facts();
  for (uint32_t heap = 0; heap < facts.memory.memoryHeapCount; ++heap) {
    const bool own = (facts.memory.memoryHeaps[heap].flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT) && !facts.software;
    kept_.emplace_back(own ? facts.memory.memoryHeaps[heap].size / kKeptPart : kKeptOfHost);
  }
}

Memory::~Memory() {
  for (const auto& slab : slabs_) destroy(*slab);
}

// Of types that fit equally, those of the host come first for the host's kinds: the memory of a device is scarce.
std::vector<uint32_t> Memory::types_for(BlockKind kind) const {
  const VkPhysicalDeviceMemoryProperties& memory = context_->facts().memory;
  const bool for_host = kind == BlockKind::kHost || kind == BlockKind::kHostCached;
  constexpr VkMemoryPropertyFlags kStrange = VK_MEMORY_PROPERTY_PROTECTED_BIT |
                                             VK_MEMORY_PROPERTY_LAZILY_ALLOCATED_BIT |
                                             VK_MEMORY_PROPERTY_DEVICE_COHERENT_BIT_AMD;
  std::vector<uint32_t> types;
  for (const VkMemoryPropertyFlags wish : wishes(kind)) {
    for (const bool local : {!for_host, for_host}) {
      for (uint32_t type = 0; type < memory.memoryTypeCount; ++type) {
        const VkMemoryPropertyFlags has = memory.memoryTypes[type].propertyFlags;
        if ((has & wish) != wish || (has & kStrange) || ((has & kLocal) != 0) != local) continue;
        if (std::find(types.begin(), types.end(), type) == types.end()) types.push_back(type);
      }
    }
  }
  return types;
}

Status Memory::bind(Slab& slab, const SlabRequest& request) const {
  const DeviceSymbols& symbols = context_->symbols();
  VkDevice device = context_->handle();
  VkMemoryRequirements needs{};
  symbols.vkGetBufferMemoryRequirements(device, slab.buffer, &needs);
  if (!(needs.memoryTypeBits >> request.type & 1)) {
    return failure(StatusCode::kUnimplemented, "Memory of type ", request.type, " takes no buffers.");
  }
  VkImportMemoryHostPointerInfoEXT imported{};
  imported.sType = VK_STRUCTURE_TYPE_IMPORT_MEMORY_HOST_POINTER_INFO_EXT;
  imported.handleType = VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT;
  imported.pHostPointer = request.imported;
  VkMemoryAllocateFlagsInfo flags{};
  flags.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO;
  flags.pNext = request.imported ? &imported : nullptr;
  flags.flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT;
  VkMemoryAllocateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO;
  info.pNext = &flags;
  info.allocationSize = request.imported ? request.length : std::max<uint64_t>(needs.size, request.length);
  info.memoryTypeIndex = request.type;
  BATON_VULKAN_TRY(symbols, vkAllocateMemory, device, &info, nullptr, &slab.memory);
  BATON_VULKAN_TRY(symbols, vkBindBufferMemory, device, slab.buffer, slab.memory, 0);
  VkBufferDeviceAddressInfo of{};
  of.sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO;
  of.buffer = slab.buffer;
  slab.address = symbols.vkGetBufferDeviceAddress(device, &of);
  const VkMemoryPropertyFlags has = context_->facts().memory.memoryTypes[request.type].propertyFlags;
  slab.host_cached = (has & kCached) != 0 || request.imported;
  slab.host = static_cast<std::byte*>(request.imported);
  if (request.imported || (has & kVisible) != kVisible) return {};
  void* host = nullptr;
  BATON_VULKAN_TRY(symbols, vkMapMemory, device, slab.memory, 0, VK_WHOLE_SIZE, 0, &host);
  slab.host = static_cast<std::byte*>(host);
  return {};
}

Result<std::unique_ptr<Slab>> Memory::make_slab(const SlabRequest& request) {
  auto slab = std::make_unique<Slab>();
  slab->id = ++last_slab_id;
  slab->type = request.type;
  slab->length = request.length;
  slab->imported = request.imported != nullptr;
  VkExternalMemoryBufferCreateInfo external{};
  external.sType = VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO;
  external.handleTypes = VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT;
  VkBufferCreateInfo info{};
  info.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO;
  info.pNext = request.imported ? &external : nullptr;
  info.size = request.length;
  info.usage = kUsage;
  info.sharingMode = VK_SHARING_MODE_EXCLUSIVE;
  BATON_VULKAN_TRY(context_->symbols(), vkCreateBuffer, context_->handle(), &info, nullptr, &slab->buffer);
  if (Status status = bind(*slab, request); !status.ok()) {
    destroy(*slab);
    return status;
  }
  return slab;
}

void Memory::destroy(Slab& slab) const {
  const DeviceSymbols& symbols = context_->symbols();
  symbols.vkDestroyBuffer(context_->handle(), slab.buffer, nullptr);
  symbols.vkFreeMemory(context_->handle(), slab.memory, nullptr);
}

Result<Block> Memory::take_from(uint32_t type, uint64_t length) {
  const uint64_t rounded = align_up(length, kGranule);
  if (rounded > kSharedBytesMax) {
    BATON_TRY_ASSIGN(std::unique_ptr<Slab> slab, make_slab({slab_bytes(rounded), type}));
    slabs_.push_back(std::move(slab));
    return Block{slabs_.back().get(), 0, slabs_.back()->length};
  }
  for (const auto& slab : slabs_) {
    if (slab->type != type || !slab->ranges) continue;
    if (const auto offset = slab->ranges->take(rounded)) return Block{slab.get(), *offset, rounded};
  }
  BATON_TRY_ASSIGN(std::unique_ptr<Slab> slab, make_slab({kSlabBytes, type}));
  slab->ranges = std::make_unique<MemoryRanges>(slab->length, kGranule);
  slabs_.push_back(std::move(slab));
  return Block{slabs_.back().get(), *slabs_.back()->ranges->take(rounded), rounded};
}

// What was kept, or what the driver still has, if need be after it got back what was kept.
Result<Block> Memory::take_of(uint32_t type, uint64_t length, uint64_t owner) {
  KeptBlocks& kept = kept_of(type);
  if (const auto block = kept.take(type, length, owner)) return *block;
  auto block = take_from(type, length);
  const uint32_t heap = context_->facts().memory.memoryTypes[type].heapIndex;
  if (block.has_value() || block.error().code() != StatusCode::kResourceExhausted ||
      length > context_->facts().memory.memoryHeaps[heap].size) {
    return block;
  }
  for (const Block& each : kept.take_all()) put_back(each);
  return take_from(type, length);
}

Result<Block> Memory::take(uint64_t length, BlockKind kind, uint64_t owner) {
  const std::lock_guard lock(mutex_);
  Status last;
  for (const uint32_t type : types_[static_cast<size_t>(kind)]) {
    auto block = take_of(type, std::max<uint64_t>(length, 1), owner);
    if (block.has_value()) return block;
    last = std::move(block).error();
    if (last.code() != StatusCode::kResourceExhausted && last.code() != StatusCode::kUnimplemented) return last;
  }
  return failure(StatusCode::kResourceExhausted, "No memory of device '", context_->facts().name, "' for ", length,
                 " bytes: ", last.ok() ? std::string_view("no type of it fits.") : last.message());
}

void Memory::give(const Block& block) {
  const std::lock_guard lock(mutex_);
  const bool worth_keeping = block.owner != MemoryOwner::kNobody || !block.slab->ranges;
  if (block.slab->imported || !worth_keeping) return put_back(block);
  for (const Block& leaving : kept_of(block.slab->type).keep(block)) put_back(leaving);
}

void Memory::put_back(const Block& block) {
  Slab* slab = block.slab;
  if (slab->ranges) {
    slab->ranges->give(block.offset, block.length);
    if (!slab->ranges->empty()) return;
    const bool another = std::any_of(slabs_.begin(), slabs_.end(), [&](const auto& one) {
      return one.get() != slab && one->type == slab->type && one->ranges && one->ranges->empty();
    });
    if (!another) return;
  }
  destroy(*slab);
  std::erase_if(slabs_, [&](const auto& one) { return one.get() == slab; });
}

Result<Block> Memory::import_host(std::span<std::byte> memory) {
  const DeviceSymbols& symbols = context_->symbols();
  const uint64_t alignment = context_->facts().imported_host_alignment;
  if (alignment == 0 || !symbols.vkGetMemoryHostPointerPropertiesEXT) {
    return failure(StatusCode::kUnimplemented, "the device has no ", VK_EXT_EXTERNAL_MEMORY_HOST_EXTENSION_NAME);
  }
  const auto start = reinterpret_cast<uintptr_t>(memory.data());
  const uintptr_t first = start / alignment * alignment;
  const uint64_t length = (start + std::max<size_t>(memory.size(), 1) - first + alignment - 1) / alignment * alignment;
  auto* const pages = reinterpret_cast<void*>(first);
  VkMemoryHostPointerPropertiesEXT properties{};
  properties.sType = VK_STRUCTURE_TYPE_MEMORY_HOST_POINTER_PROPERTIES_EXT;
  BATON_VULKAN_TRY(symbols, vkGetMemoryHostPointerPropertiesEXT, context_->handle(),
                   VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT, pages, &properties);
  const VkPhysicalDeviceMemoryProperties& types = context_->facts().memory;
  for (uint32_t type = 0; type < types.memoryTypeCount; ++type) {
    if (!(properties.memoryTypeBits >> type & 1) || (types.memoryTypes[type].propertyFlags & kVisible) != kVisible) {
      continue;
    }
    BATON_TRY_ASSIGN(std::unique_ptr<Slab> slab, make_slab({length, type, pages}));
    const Block block{slab.get(), start - first, memory.size()};
    const std::lock_guard lock(mutex_);
    slabs_.push_back(std::move(slab));
    return block;
  }
  return failure(StatusCode::kUnimplemented, "no coherent type of its memory takes pages of the host");
}

}  // namespace baton::hal::drivers::vulkan
