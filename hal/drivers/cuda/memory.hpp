// Memory: where the buffers of a device come from: a cache of blocks in front of the driver.
//
// The driver's own warm pool takes 0.44 us for an allocation and a free; a block of the cache takes a list push and a
// pop. Blocks are cut to size classes an eighth of a power of two apart, so that one freed is one found. A block that
// the device may still be using carries the mark after which it is free. When the device has no more, the cache gives
// all it has back to the driver, and the request is tried once again.
// Threads: internally synchronized.
#pragma once

#include <array>
#include <atomic>

#include "hal/drivers/cuda/stream.hpp"
#include "hal/memory_owner.hpp"

namespace baton::hal::drivers::cuda {

struct Block {
  CUdeviceptr address = 0;
  std::byte* host = nullptr;  // Of pinned blocks: the same bytes for the host.
  uint64_t bytes = 0;
  Ref<Mark> busy_until;
  uint64_t owner = MemoryOwner::kNobody;  // Who may find in it what it holds.
};

// Blocks of one kind, by size class.
class BlockCache {
 public:
  // The bytes of the smallest class that holds `length`.
  static uint64_t class_bytes(uint64_t length);

  // Whether there was one: `owner`'s own where there is one, else anybody's. A block that is busy counts only when the
  // caller's use comes behind that work anyway: when both are on `stream`, and the block is the owner's.
  bool take(uint64_t bytes, const Stream* stream, uint64_t owner, Block& block);
  void give(Block&& block);
  // Takes out everything that is not busy; the caller gives it back to the driver.
  std::vector<Block> take_all();

 private:
  static constexpr uint32_t kClassCount = 8 * 48;
  static uint32_t class_of(uint64_t bytes);
  static bool is_free_for(const Block& block, const Stream* stream, uint64_t owner);

  std::mutex mutex_;
  std::array<std::vector<Block>, kClassCount> classes_;  // Guarded by mutex_.
};

class Memory final : public RefCounted<Memory> {
 public:
  static Result<Ref<Memory>> make(Ref<PrimaryContext> context, std::vector<Ref<Stream>> streams);
  ~Memory();

  PrimaryContext& context() const { return *context_; }
  const Ref<PrimaryContext>& shared_context() const { return context_; }

  // The block holds zeros, or what this thread's owner (MemoryOwner) left in it.
  Result<Block> take_device(uint64_t length);
  Result<Block> take_pinned(uint64_t length);
  // What the block holds is anything.
  Result<Block> take_staging(uint64_t length);
  void give_device(Block&& block) { device_.give(std::move(block)); }
  void give_pinned(Block&& block) { pinned_.give(std::move(block)); }
  // Gives what is cached and not in use back to the driver.
  void trim();

  // Where mappings are copied.
  Stream& transfer() const { return *transfer_; }
  // Lets the device of `other` read and write what is and will be in this memory. False where the two cannot.
  Result<bool> open_to(const Ref<PrimaryContext>& other);

  // Moves bytes between host and device and waits for it; both are the caller's.
  Status copy_now(CUdeviceptr target, CUdeviceptr source, uint64_t length);

  void count(uint64_t length);
  void uncount(uint64_t length) { live_bytes_.fetch_sub(length, std::memory_order_relaxed); }
  uint64_t live_bytes() const { return live_bytes_.load(std::memory_order_relaxed); }
  uint64_t peak_bytes() const { return peak_bytes_.load(std::memory_order_relaxed); }

 private:
  template <typename T, typename... Arguments>
  friend Ref<T> baton::make_ref(Arguments&&...);
  Memory(Ref<PrimaryContext> context, std::vector<Ref<Stream>> streams, Ref<Stream> transfer, CUmemoryPool pool)
      : context_(std::move(context)), streams_(std::move(streams)), transfer_(std::move(transfer)), pool_(pool) {}

  CUresult ask_driver(uint64_t bytes, Block& block);
  CUresult ask_driver_pinned(uint64_t bytes, Block& block);
  Status clear_device(const Block& block);
  Result<Block> ask_twice(CUresult (Memory::*ask)(uint64_t, Block&), uint64_t length, std::string_view what);

  const Ref<PrimaryContext> context_;
  const std::vector<Ref<Stream>> streams_;  // Of the queue: what they kept may be memory.
  const Ref<Stream> transfer_;
  const CUmemoryPool pool_;
  BlockCache device_;
  BlockCache pinned_;
  std::mutex peers_mutex_;
  std::vector<Ref<PrimaryContext>> peers_;  // Guarded by peers_mutex_: to whom it is open; that lasts while they do.
  std::atomic<uint64_t> live_bytes_{0};
  std::atomic<uint64_t> peak_bytes_{0};
};

}  // namespace baton::hal::drivers::cuda
