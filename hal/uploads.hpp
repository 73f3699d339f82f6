// Uploads: elements of the host on their way to new tensors of a device, all by one operation of its queue.
//
//   Uploads uploads(device);
//   BATON_TRY_ASSIGN(Ref<BufferView> x, uploads.add(ElementType::kF32, shape, bytes));
//   BATON_TRY_ASSIGN(const Ref<Fence> ready, uploads.begin());
//
// Nobody waits for the device: the bytes are the caller's again when add() returns. Where the host sees the memory they
// are written there at once, and nothing is to be begun.
// Threads: externally synchronized.
#pragma once

#include <memory>
#include <span>

#include "hal/buffer_view.hpp"
#include "hal/command_buffer.hpp"
#include "hal/fence.hpp"
#include "hal/memory_owner.hpp"

namespace baton::hal {

class Device;

class Uploads {
 public:
  // The memory is `owner`'s (MemoryOwner). The device outlives this.
  explicit Uploads(Device& device, uint64_t owner = MemoryOwner::current()) : device_(&device), owner_(owner) {}

  // These bytes in a new buffer: in host memory where the device works there.
  Result<Ref<Buffer>> add(std::span<const std::byte> bytes);
  // A tensor of these elements, dense, in such a buffer.
  Result<Ref<BufferView>> add(ElementType element_type, std::span<const int64_t> shape,
                              std::span<const std::byte> elements);
  // Whether there is nothing to begin.
  bool empty() const { return !copies_; }
  // Begins the copies of what was added since the last call. What is given to the device may use it from the fence on;
  // null: at once.
  Result<Ref<Fence>> begin();
  // The same, and waits for it.
  Status finish();

 private:
  Status copy(std::span<const std::byte> bytes, Buffer& target);

  Device* device_;
  uint64_t owner_;
  std::unique_ptr<CommandBuffer> copies_;  // Null while there is none.
};

}  // namespace baton::hal
