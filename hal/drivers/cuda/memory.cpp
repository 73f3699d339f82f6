#include "hal/drivers/cuda/memory.hpp"

#include <bit>
#include <cstring>

#include "base/bytes.hpp"

namespace baton::hal::drivers::cuda {
namespace {

constexpr uint64_t kSmallest = 512;  // What cuMemAlloc aligns to, and more than any vector load asks for.
// Beyond this an eighth would be a lot to waste: whole pages of the driver.
constexpr uint64_t kExactFrom = uint64_t{64} << 20;
constexpr uint64_t kDriverPage = uint64_t{2} << 20;

}  // namespace

uint64_t BlockCache::class_bytes(uint64_t length) {
  if (length <= kSmallest) return kSmallest;
  if (length >= kExactFrom) return align_up(length, kDriverPage);
  const auto octave = static_cast<uint32_t>(std::bit_width(length - 1) - 1);
  return align_up(length, uint64_t{1} << (octave - 3));
}

uint32_t BlockCache::class_of(uint64_t bytes) {
  const auto octave = static_cast<uint32_t>(std::bit_width(bytes - 1) - 1);
  const auto eighth = static_cast<uint32_t>(((bytes - 1) >> (octave - 3)) & 7);
  const uint32_t index = (octave - 8) * 8 + eighth;
  return index < kClassCount ? index : kClassCount - 1;
}

// Who clears a block does that on another stream, at once.
bool BlockCache::is_free_for(const Block& block, const Stream* stream, uint64_t owner) {
  Mark* const busy = block.busy_until.get();
  if (!busy) return true;
  return (&busy->stream() == stream && block.owner == owner) || busy->done();
}

bool BlockCache::take(uint64_t bytes, const Stream* stream, uint64_t owner, Block& block) {
  std::lock_guard lock(mutex_);
  std::vector<Block>& list = classes_[class_of(bytes)];
  size_t found = list.size();
  for (size_t i = list.size(); i-- > 0;) {
    if (list[i].bytes < bytes || !is_free_for(list[i], stream, owner)) continue;
    const bool own = owner != MemoryOwner::kNobody && list[i].owner == owner;
    if (own || found == list.size()) found = i;
    if (own) break;
  }
  if (found == list.size()) return false;
  block = std::move(list[found]);
  list.erase(list.begin() + static_cast<ptrdiff_t>(found));
  return true;
}

void BlockCache::give(Block&& block) {
  std::lock_guard lock(mutex_);
  classes_[class_of(block.bytes)].push_back(std::move(block));
}

std::vector<Block> BlockCache::take_all() {
  std::vector<Block> all;
  std::lock_guard lock(mutex_);
  for (std::vector<Block>& list : classes_) {
    for (size_t i = list.size(); i-- > 0;) {
      if (list[i].busy_until && !list[i].busy_until->done()) continue;
      all.push_back(std::move(list[i]));
      list.erase(list.begin() + static_cast<ptrdiff_t>(i));
    }
  }
  return all;
}

Result<Ref<Memory>> Memory::make(Ref<PrimaryContext> context, std::vector<Ref<Stream>> streams) {
  const ContextScope scope = context->enter();
  CUmemPoolProps properties = {};
  properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = context->device()};
  CUmemoryPool pool = nullptr;
  BATON_CUDA_TRY(context->symbols(), cuMemPoolCreate, &pool, &properties);
  // What the cache gives back stays in the pool until trim(): memory that is mapped once is cheap for ever.
  cuuint64_t keep = ~cuuint64_t{0};
  BATON_CUDA_TRY(context->symbols(), cuMemPoolSetAttribute, pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &keep);
  BATON_TRY_ASSIGN(Ref<Stream> transfer, Stream::make(context));
  return make_ref<Memory>(std::move(context), std::move(streams), std::move(transfer), pool);
}

Memory::~Memory() {
  trim();
  const ContextScope scope = context_->enter();
  context_->symbols().cuMemPoolDestroy(pool_);
}

// Driver memory is asked for on the transfer stream, which is idle, and is there for every stream once that is through.
CUresult Memory::ask_driver(uint64_t bytes, Block& block) {
  const Symbols& symbols = context_->symbols();
  std::lock_guard lock(transfer_->mutex());
  const CUresult result = symbols.cuMemAllocFromPoolAsync(&block.address, bytes, pool_, transfer_->handle());
  return result == CUDA_SUCCESS ? symbols.cuStreamSynchronize(transfer_->handle()) : result;
}

CUresult Memory::ask_driver_pinned(uint64_t bytes, Block& block) {
  const Symbols& symbols = context_->symbols();
  void* host = nullptr;
  CUresult result = symbols.cuMemHostAlloc(&host, bytes, CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP);
  if (result != CUDA_SUCCESS) return result;
  block.host = static_cast<std::byte*>(host);
  return symbols.cuMemHostGetDevicePointer(&block.address, host, 0);
}

Result<Block> Memory::ask_twice(CUresult (Memory::*ask)(uint64_t, Block&), uint64_t length, std::string_view what) {
  BATON_TRY(context_->check());
  const ContextScope scope = context_->enter();
  const uint64_t bytes = BlockCache::class_bytes(length);
  Block block;
  block.bytes = bytes;
  CUresult result = (this->*ask)(bytes, block);
  if (result == CUDA_ERROR_OUT_OF_MEMORY) {
    for (const Ref<Stream>& stream : streams_) {
      stream->reap(true);
      stream->drop_bound_tables();
    }
    trim();
    result = (this->*ask)(bytes, block);
  }
  if (result == CUDA_SUCCESS) return block;
  if (result != CUDA_ERROR_OUT_OF_MEMORY) return context_->status_of(result, "Allocating memory");
  size_t free_bytes = 0, total_bytes = 0;
  context_->symbols().cuMemGetInfo(&free_bytes, &total_bytes);
  return failure(StatusCode::kResourceExhausted, "No ", what, " memory for a buffer of ", length,
                 " bytes: ", free_bytes, " of the device's ", total_bytes, " are free, ", live_bytes(),
                 " are in buffers.");
}

// Nobody has used the block since its mark, which is done, and nobody uses it before this is.
Status Memory::clear_device(const Block& block) {
  BATON_TRY(context_->check());
  const ContextScope scope = context_->enter();
  const Symbols& symbols = context_->symbols();
  std::lock_guard lock(transfer_->mutex());
  BATON_TRY(context_->status_of(symbols.cuMemsetD8Async(block.address, 0, block.bytes, transfer_->handle()),
                                "cuMemsetD8Async"));
  return context_->status_of(symbols.cuStreamSynchronize(transfer_->handle()), "cuStreamSynchronize");
}

Result<Block> Memory::take_device(uint64_t length) {
  const uint64_t bytes = BlockCache::class_bytes(length);
  const uint64_t owner = MemoryOwner::current();
  Block block;
  // With one stream, the next user of a cached block runs after its last user, unless that was another device's.
  const Stream* const stream = streams_.size() == 1 ? streams_[0].get() : nullptr;
  const bool cached = device_.take(bytes, stream, owner, block);
  if (cached && owner != MemoryOwner::kNobody && block.owner == owner) return block;
  if (!cached) {
    BATON_TRY_ASSIGN(block, ask_twice(&Memory::ask_driver, length, "device"));
  }
  if (Status cleared = clear_device(block); !cleared.ok()) {
    device_.give(std::move(block));
    return cleared;
  }
  block.owner = owner;
  return block;
}

Result<Block> Memory::take_staging(uint64_t length) {
  Block block;
  if (pinned_.take(BlockCache::class_bytes(length), nullptr, MemoryOwner::kNobody, block)) {
    block.owner = MemoryOwner::kNobody;
    return block;
  }
  return ask_twice(&Memory::ask_driver_pinned, length, "pinned host");
}

Result<Block> Memory::take_pinned(uint64_t length) {
  const uint64_t owner = MemoryOwner::current();
  Block block;
  const bool cached = pinned_.take(BlockCache::class_bytes(length), nullptr, owner, block);
  if (cached && owner != MemoryOwner::kNobody && block.owner == owner) return block;
  if (!cached) {
    BATON_TRY_ASSIGN(block, ask_twice(&Memory::ask_driver_pinned, length, "pinned host"));
  }
  std::memset(block.host, 0, static_cast<size_t>(block.bytes));
  block.owner = owner;
  return block;
}

void Memory::trim() {
  const ContextScope scope = context_->enter();
  const Symbols& symbols = context_->symbols();
  for (const Block& block : device_.take_all()) symbols.cuMemFreeAsync(block.address, transfer_->handle());
  for (const Block& block : pinned_.take_all()) symbols.cuMemFreeHost(block.host);
  symbols.cuStreamSynchronize(transfer_->handle());
  symbols.cuMemPoolTrimTo(pool_, 0);
}

// Pools know the devices that may reach them, whatever the contexts have agreed; memory that came from cuMemAlloc,
// which another library may have brought, knows the contexts.
Result<bool> Memory::open_to(const Ref<PrimaryContext>& other) {
  if (other->device() == context_->device()) return true;
  std::lock_guard lock(peers_mutex_);
  for (const Ref<PrimaryContext>& peer : peers_) {
    if (peer->device() == other->device()) return true;
  }
  const Symbols& symbols = context_->symbols();
  int can = 0;
  BATON_TRY(context_->status_of(symbols.cuDeviceCanAccessPeer(&can, other->device(), context_->device()),
                                "cuDeviceCanAccessPeer"));
  if (!can) return false;
  const ContextScope scope = other->enter();
  const CUresult enabled = symbols.cuCtxEnablePeerAccess(context_->handle(), 0);
  if (enabled != CUDA_SUCCESS && enabled != CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED) {
    return other->status_of(enabled, "cuCtxEnablePeerAccess");
  }
  CUmemAccessDesc access = {};
  access.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = other->device()};
  access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  BATON_TRY(context_->status_of(symbols.cuMemPoolSetAccess(pool_, &access, 1), "cuMemPoolSetAccess"));
  peers_.push_back(other);
  return true;
}

Status Memory::copy_now(CUdeviceptr target, CUdeviceptr source, uint64_t length) {
  if (length == 0) return {};
  BATON_TRY(context_->check());
  const ContextScope scope = context_->enter();
  const Symbols& symbols = context_->symbols();
  std::lock_guard lock(transfer_->mutex());
  BATON_TRY(context_->status_of(symbols.cuMemcpyAsync(target, source, length, transfer_->handle()), "cuMemcpyAsync"));
  return context_->status_of(symbols.cuStreamSynchronize(transfer_->handle()), "cuStreamSynchronize");
}

void Memory::count(uint64_t length) {
  const uint64_t live = live_bytes_.fetch_add(length, std::memory_order_relaxed) + length;
  uint64_t peak = peak_bytes_.load(std::memory_order_relaxed);
  while (peak < live && !peak_bytes_.compare_exchange_weak(peak, live, std::memory_order_relaxed)) {
  }
}

}  // namespace baton::hal::drivers::cuda
