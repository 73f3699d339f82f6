#include "hal/drivers/cuda/buffer.hpp"

#include <cstring>

#include "hal/drivers/cuda/pinned_pages.hpp"

namespace baton::hal::drivers::cuda {

Buffer::Buffer(const Description& made, Ref<Memory> memory, Block block)
    : hal::Buffer(made),
      memory_(std::move(memory)),
      address_(block.address),
      host_(block.host),
      block_(std::move(block)) {
  memory_->count(length());
}

Buffer::Buffer(const Description& made, Ref<Memory> memory, CUdeviceptr address, std::byte* host, bool registered,
               ImportRelease release)
    : hal::Buffer(made),
      memory_(std::move(memory)),
      address_(address),
      host_(host),
      registered_(registered),
      release_(release) {}

Buffer::Buffer(Buffer& root, uint64_t offset, uint64_t length)
    : hal::Buffer(root, offset, length),
      memory_(root.memory_),
      address_(root.address_ + offset),
      host_(root.host_ ? root.host_ + offset : nullptr) {}

Buffer::~Buffer() {
  if (&root() != this) return;
  give_back(nullptr);
  if (registered_) {
    const ContextScope scope = memory_->context().enter();
    PinnedPages::of_process().unpin(memory_->context().symbols(), {host_, static_cast<size_t>(length())});
  }
  if (release_.release) release_.release(release_.data);
}

void Buffer::give_back(Ref<Mark> busy_until) {
  if (block_.bytes == 0) return;
  memory_->uncount(length());
  Block block = std::move(block_);
  block_ = {};
  block.busy_until = std::move(busy_until);
  block.host ? memory_->give_pinned(std::move(block)) : memory_->give_device(std::move(block));
}

Result<Ref<hal::Buffer>> Buffer::do_subspan(uint64_t offset, uint64_t length) {
  return Ref<hal::Buffer>(make_ref<Buffer>(*this, offset, length));
}

MemoryLocation Buffer::location() const {
  if (host_) return {MemorySpace::kCudaPinned, 0, static_cast<uint64_t>(reinterpret_cast<uintptr_t>(host_))};
  return {MemorySpace::kCuda, memory_->context().device(), address_};
}

// What a mapping does not write must survive it, so writers fetch too, but those that discard.
Result<std::byte*> Buffer::do_map(Access access, uint64_t offset, uint64_t length) {
  if (host_) return host_ + offset;
  BATON_TRY_ASSIGN(Block staging, memory_->take_staging(length));
  if (has_all(access, Access::kDiscard)) {
    // What is not written goes to the device with the rest.
    std::memset(staging.host, 0, static_cast<size_t>(length));
  } else {
    if (Status fetched = memory_->copy_now(staging.address, address_ + offset, length); !fetched.ok()) {
      memory_->give_pinned(std::move(staging));
      return fetched;
    }
  }
  std::byte* data = staging.host;
  std::lock_guard lock(mapped_mutex_);
  mapped_.push_back({data, std::move(staging)});
  return data;
}

void Buffer::do_unmap(std::byte* data, Access access, uint64_t offset, uint64_t length) {
  if (host_) return;
  Block staging;
  {
    std::lock_guard lock(mapped_mutex_);
    for (Mapped& one : mapped_) {
      if (one.data != data) continue;
      staging = std::move(one.staging);
      one = std::move(mapped_.back());
      mapped_.pop_back();
      break;
    }
  }
  // A destructor cannot return a status: the next wait returns that the device is lost.
  if (has_any(access, Access::kWrite)) {
    const Status put_back = memory_->copy_now(address_ + offset, staging.address, length);
  }
  memory_->give_pinned(std::move(staging));
}

}  // namespace baton::hal::drivers::cuda
