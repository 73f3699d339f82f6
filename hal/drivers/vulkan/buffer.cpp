#include "hal/drivers/vulkan/buffer.hpp"

#include <algorithm>
#include <cstring>

namespace baton::hal::drivers::vulkan {

Buffer::Buffer(const Description& made, Ref<BufferSource> source, const Block& block, uint64_t ready, bool counted,
               ImportRelease release)
    : hal::Buffer(made),
      source_(std::move(source)),
      block_(block),
      ready_(ready),
      owns_(true),
      counted_(counted),
      release_(release) {}

Buffer::Buffer(Buffer& root, uint64_t offset, uint64_t length)
    : hal::Buffer(root, offset, length),
      source_(root.source_),
      block_{root.block_.slab, root.block_.offset + offset, length},
      ready_(root.ready_),
      owns_(false),
      counted_(false),
      release_() {}

Buffer::~Buffer() {
  if (!owns_) return;
  // Its zeros must not come after what the next owner of the block writes from the host.
  const Status waited = wait_until_ready();
  source_->memory->give(block_);
  if (counted_) source_->live_bytes.fetch_sub(length());
  if (release_.release) release_.release(release_.data);
}

MemoryLocation Buffer::location() const {
  std::byte* const host = block_.host();
  if (!host) return {};
  return {MemorySpace::kHost, 0, static_cast<uint64_t>(reinterpret_cast<uintptr_t>(host))};
}

Status Buffer::wait_until_ready() const { return ready_ == 0 ? Status() : source_->commands->timeline().wait(ready_); }

Result<Ref<hal::Buffer>> Buffer::do_subspan(uint64_t offset, uint64_t length) {
  return Ref<hal::Buffer>(make_ref<Buffer>(*this, offset, length));
}

Result<Buffer::Staged> Buffer::fetch(Access access, uint64_t offset, uint64_t length) const {
  BATON_TRY_ASSIGN(const Block staging, source_->memory->take(length, BlockKind::kHostCached));
  const Staged staged{staging, staging.host()};
  if (has_all(access, Access::kDiscard) || length == 0) {
    std::memset(staged.data, 0, static_cast<size_t>(length));  // What is left unwritten must not be another's.
    return staged;
  }
  SingleCommands& commands = *source_->commands;
  auto copied = commands.copy(span(offset, length), {staging.slab->buffer, staging.offset, length});
  Status status = copied.has_value() ? commands.timeline().wait(*copied) : std::move(copied).error();
  if (status.ok()) return staged;
  source_->memory->give(staging);
  return status;
}

Status Buffer::put(const Staged& staged, Access access, uint64_t offset, uint64_t length) const {
  Status status;
  if (has_any(access, Access::kWrite) && length != 0) {
    SingleCommands& commands = *source_->commands;
    const auto copied =
        commands.copy({staged.staging.slab->buffer, staged.staging.offset, length}, span(offset, length));
    status = copied.has_value() ? commands.timeline().wait(*copied) : copied.error().clone();
  }
  source_->memory->give(staged.staging);
  return status;
}

Result<std::byte*> Buffer::do_map(Access access, uint64_t offset, uint64_t length) {
  BATON_TRY(wait_until_ready());
  std::byte* const host = block_.host();
  if (host && (block_.slab->host_cached || !has_any(access, Access::kRead))) return host + offset;
  BATON_TRY_ASSIGN(const Staged staged, fetch(access, offset, length));
  const std::lock_guard lock(mapped_mutex_);
  mapped_.push_back(staged);
  return staged.data;
}

void Buffer::do_unmap(std::byte* data, Access access, uint64_t offset, uint64_t length) {
  Staged staged{};
  {
    const std::lock_guard lock(mapped_mutex_);
    const auto found =
        std::find_if(mapped_.begin(), mapped_.end(), [&](const Staged& one) { return one.data == data; });
    if (found == mapped_.end()) return;
    staged = *found;
    mapped_.erase(found);
  }
  // Fails only when the device is lost, which everything that uses the buffer says.
  const Status status = put(staged, access, offset, length);
}

}  // namespace baton::hal::drivers::vulkan
