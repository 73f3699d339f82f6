// Buffer: a block of device memory.
//
// Where the host sees the block and reads it fast, a mapping is the block itself. Elsewhere a mapping is a copy in
// memory of the host: it is fetched when the mapping is made, unless what it holds is not wanted, and put back when the
// mapping ends, if it may have been written.
// Threads: as hal::Buffer.
#pragma once

#include <mutex>
#include <vector>

#include "hal/allocator.hpp"
#include "hal/drivers/vulkan/memory.hpp"
#include "hal/drivers/vulkan/single_commands.hpp"

namespace baton::hal::drivers::vulkan {

// Where buffers come from, and how they are filled. Every buffer keeps it.
struct BufferSource : RefCounted<BufferSource> {
  BufferSource(Ref<Memory> from, Ref<SingleCommands> by) : memory(std::move(from)), commands(std::move(by)) {}

  const Ref<Memory> memory;
  const Ref<SingleCommands> commands;
  std::atomic<uint64_t> live_bytes{0};
  std::atomic<uint64_t> peak_bytes{0};
};

class Buffer final : public hal::Buffer {
 public:
  using hal::Buffer::Description;

  // Owns `block`, which holds what a program may see once submission `ready` is through. `counted`: its bytes are in
  // the source's count.
  Buffer(const Description& made, Ref<BufferSource> source, const Block& block, uint64_t ready, bool counted,
         ImportRelease release);
  Buffer(Buffer& root, uint64_t offset, uint64_t length);
  ~Buffer() override;

  const Block& block() const { return block_; }
  uint64_t address() const { return block_.address(); }
  // Null where the host cannot see it, or reads it slowly: then it takes a mapping.
  std::byte* fast_host() const { return block_.slab->host_cached ? block_.host() : nullptr; }
  MemoryLocation location() const override;

  // What a mapping with `access` is: the block, or a copy that takes `fetch` and `put`.
  struct Staged {
    Block staging;
    std::byte* data;
  };
  Result<Staged> fetch(Access access, uint64_t offset, uint64_t length) const;
  Status put(const Staged& staged, Access access, uint64_t offset, uint64_t length) const;

 private:
  Result<Ref<hal::Buffer>> do_subspan(uint64_t offset, uint64_t length) override;
  Result<std::byte*> do_map(Access access, uint64_t offset, uint64_t length) override;
  void do_unmap(std::byte* data, Access access, uint64_t offset, uint64_t length) override;
  Status wait_until_ready() const;
  SingleCommands::Span span(uint64_t offset, uint64_t length) const {
    return {block_.slab->buffer, block_.offset + offset, length};
  }

  const Ref<BufferSource> source_;
  const Block block_;
  const uint64_t ready_;
  const bool owns_;
  const bool counted_;
  const ImportRelease release_;
  std::mutex mapped_mutex_;
  std::vector<Staged> mapped_;  // Guarded by mapped_mutex_: mappings that are copies.
};

}  // namespace baton::hal::drivers::vulkan
