#include "hal/host_allocator.hpp"

#include <algorithm>

namespace baton::hal {

HostAllocator::HostAllocator(const baton::Allocator& memory, uint64_t buffer_bytes_max, Device* device)
    : Allocator(buffer_bytes_max, device), memory_(memory), counters_(make_ref<Counters>()) {}

MemoryUse HostAllocator::memory_use() const { return {counters_->live_bytes, counters_->peak_bytes}; }

Result<Ref<Buffer>> HostAllocator::do_allocate(const AllocationRequest& request) {
  // Not through allocate(), which aborts: a program may ask for more than there is, and hear no.
  void* data =
      memory_.allocate_bytes(memory_.self, static_cast<size_t>(std::max<uint64_t>(request.length, 1)), kAlignment, 0);
  if (!data) {
    return failure(StatusCode::kResourceExhausted, "No host memory for a buffer of ", request.length, " bytes (",
                   counters_->live_bytes.load(), " are in use).");
  }
  const uint64_t live = counters_->live_bytes.fetch_add(request.length) + request.length;
  uint64_t peak = counters_->peak_bytes;
  while (peak < live && !counters_->peak_bytes.compare_exchange_weak(peak, live)) {
  }
  const HostBuffer::Description made{this, request.length, request.memory | MemoryKind::kHostVisible, request.usage};
  return Ref<Buffer>(make_ref<HostBuffer>(made, static_cast<std::byte*>(data), memory_, counters_));
}

Result<Ref<Buffer>> HostAllocator::do_import_host(std::span<std::byte> memory, BufferUsage usage,
                                                  ImportRelease release) {
  const HostBuffer::Description made{this, memory.size(), MemoryKind::kDeviceLocal | MemoryKind::kHostVisible, usage};
  return Ref<Buffer>(make_ref<HostBuffer>(made, memory.data(), release));
}

HostBuffer::HostBuffer(const Description& made, std::byte* data, const baton::Allocator& memory,
                       Ref<HostAllocator::Counters> counters)
    : Buffer(made), data_(data), memory_(memory), counters_(std::move(counters)) {}

HostBuffer::HostBuffer(const Description& made, std::byte* data, ImportRelease release)
    : Buffer(made), data_(data), release_(release) {}

HostBuffer::HostBuffer(HostBuffer& root, uint64_t offset, uint64_t length)
    : Buffer(root, offset, length), data_(root.data_ + offset) {}

HostBuffer::~HostBuffer() {
  if (counters_) {
    counters_->live_bytes.fetch_sub(length());
    memory_.free(data_);
  }
  if (release_.release) release_.release(release_.data);
}

Result<Ref<Buffer>> HostBuffer::do_subspan(uint64_t offset, uint64_t length) {
  return Ref<Buffer>(make_ref<HostBuffer>(*this, offset, length));
}

Result<std::byte*> HostBuffer::do_map(Access, uint64_t offset, uint64_t) { return data_ + offset; }

void HostBuffer::do_unmap(std::byte*, Access, uint64_t, uint64_t) {}

}  // namespace baton::hal
