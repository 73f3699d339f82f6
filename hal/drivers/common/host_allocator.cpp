#include "hal/drivers/common/host_allocator.hpp"

#include <cstdint>

#include "base/bytes.hpp"

namespace baton::hal {

HostAllocator::HostAllocator(const baton::Allocator& memory, uint64_t buffer_bytes_max, Device* device)
    : Allocator(buffer_bytes_max, device), memory_(memory), shared_(make_ref<Shared>(memory)) {}

MemoryUse HostAllocator::memory_use() const { return {shared_->live_bytes, shared_->peak_bytes}; }

// Zero, unless it was the owner's before: programs read what they are given, and what stood there was another's. The
// alignment is made here and not asked of the allocator, which would have to clear aligned memory by hand; so a large
// buffer costs the pages that are touched.
FreedBlock HostAllocator::block_of(uint64_t bytes) {
  const uint64_t owner = bytes >= FreedBlocks::kBytesMin ? MemoryOwner::current() : MemoryOwner::kNobody;
  if (owner != MemoryOwner::kNobody) {
    if (const FreedBlock kept = shared_->freed.take(owner, bytes); kept.memory) return kept;
  }
  // Not through allocate(), which aborts: a program may ask for more than there is, and hear no.
  const auto allocate = [&] {
    return memory_.allocate_bytes(memory_.self, static_cast<size_t>(bytes), alignof(std::max_align_t), /*zeroed=*/1);
  };
  void* memory = allocate();
  if (!memory) {
    shared_->freed.give_back();
    memory = allocate();
  }
  return {memory, bytes, owner};
}

Result<Ref<Buffer>> HostAllocator::do_allocate(const AllocationRequest& request) {
  const FreedBlock block =
      request.length > PTRDIFF_MAX - kAlignmentRoom ? FreedBlock() : block_of(request.length + kAlignmentRoom);
  if (!block.memory) {
    return failure(StatusCode::kResourceExhausted, "No host memory for a buffer of ", request.length, " bytes (",
                   shared_->live_bytes.load(), " are in use).");
  }
  const uint64_t live = shared_->live_bytes.fetch_add(request.length) + request.length;
  uint64_t peak = shared_->peak_bytes;
  while (peak < live && !shared_->peak_bytes.compare_exchange_weak(peak, live)) {
  }
  const HostBuffer::Description made{this, request.length, request.memory | MemoryKind::kHostVisible, request.usage};
  return Ref<Buffer>(make_ref<HostBuffer>(made, block, memory_, shared_));
}

Result<Ref<Buffer>> HostAllocator::do_import_host(std::span<std::byte> memory, BufferUsage usage,
                                                  ImportRelease release) {
  const HostBuffer::Description made{this, memory.size(), MemoryKind::kDeviceLocal | MemoryKind::kHostVisible, usage};
  return Ref<Buffer>(make_ref<HostBuffer>(made, memory.data(), release));
}

HostBuffer::HostBuffer(const Description& made, const FreedBlock& block, const baton::Allocator& memory,
                       Ref<HostAllocator::Shared> shared)
    : Buffer(made),
      data_(
          reinterpret_cast<std::byte*>(align_up(reinterpret_cast<uintptr_t>(block.memory), HostAllocator::kAlignment))),
      block_(block),
      memory_(memory),
      shared_(std::move(shared)) {}

HostBuffer::HostBuffer(const Description& made, std::byte* data, ImportRelease release)
    : Buffer(made), data_(data), release_(release) {}

HostBuffer::HostBuffer(HostBuffer& root, uint64_t offset, uint64_t length)
    : Buffer(root, offset, length), data_(root.data_ + offset) {}

HostBuffer::~HostBuffer() {
  if (shared_) {
    shared_->live_bytes.fetch_sub(length());
    if (block_.owner != MemoryOwner::kNobody) {
      shared_->freed.keep(block_);
    } else {
      memory_.free(block_.memory);
    }
  }
  if (release_.release) release_.release(release_.data);
}

Result<Ref<Buffer>> HostBuffer::do_subspan(uint64_t offset, uint64_t length) {
  return Ref<Buffer>(make_ref<HostBuffer>(*this, offset, length));
}

Result<std::byte*> HostBuffer::do_map(Access, uint64_t offset, uint64_t) { return data_ + offset; }

void HostBuffer::do_unmap(std::byte*, Access, uint64_t, uint64_t) {}

}  // namespace baton::hal
