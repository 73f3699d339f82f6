#include "hal/uploads.hpp"

#include <cstring>

#include "hal/allocator.hpp"
#include "hal/commands/copy_buffer.hpp"
#include "hal/device.hpp"
#include "hal/queue.hpp"
#include "hal/recording.hpp"
#include "hal/staging.hpp"

namespace baton::hal {
namespace {

Status write(std::span<const std::byte> bytes, Buffer& target) {
  BATON_TRY_ASSIGN(const Mapping mapping, target.map(Access::kDiscardWrite, 0, bytes.size()));
  std::memcpy(mapping.bytes().data(), bytes.data(), bytes.size());
  return {};
}

Result<Ref<Buffer>> make_target(Device& device, uint64_t length) {
  if (device.allocator().uses_host_memory()) {
    return device.allocator().allocate(
        {.length = length, .memory = MemoryKind::kDeviceLocal | MemoryKind::kHostVisible, .usage = BufferUsage::kAll});
  }
  constexpr BufferUsage kOnDevice = BufferUsage::kTransfer | BufferUsage::kDispatch | BufferUsage::kIndirectGrid;
  return device.allocator().allocate({.length = length, .memory = MemoryKind::kDeviceLocal, .usage = kOnDevice});
}

}  // namespace

// The staging buffer is let go of with the recording, when the device is through with it.
Status Uploads::copy(std::span<const std::byte> bytes, Buffer& target) {
  BATON_TRY_ASSIGN(const Ref<Buffer> staging, make_staging(*device_, bytes.size()));
  BATON_TRY(write(bytes, *staging));
  if (!copies_) {
    BATON_TRY_ASSIGN(copies_, device_->make_command_buffer({.name = "upload"}));
  }
  return copies_->copy_buffer({.source = staging, .target = target});
}

Result<Ref<Buffer>> Uploads::add(std::span<const std::byte> bytes) {
  const MemoryOwner owner(owner_);
  BATON_TRY_ASSIGN(Ref<Buffer> target, make_target(*device_, bytes.size()));
  if (bytes.empty()) return target;
  Status given = can_map(*target) ? write(bytes, *target) : copy(bytes, *target);
  BATON_TRY(std::move(given));
  return target;
}

Result<Ref<BufferView>> Uploads::add(ElementType element_type, std::span<const int64_t> shape,
                                     std::span<const std::byte> elements) {
  // Before memory is taken and elements are read.
  BATON_TRY_ASSIGN(const uint64_t length, dense_bytes(shape, element_type));
  if (length != elements.size()) {
    return failure(StatusCode::kInvalidArgument, "A tensor ", shape_text(shape, element_type), " takes ", length,
                   " bytes; ", elements.size(), " are given.");
  }
  BATON_TRY_ASSIGN(Ref<Buffer> buffer, add(elements));
  return BufferView::make(std::move(buffer), shape, element_type);
}

Result<Ref<Fence>> Uploads::begin() {
  if (!copies_) return Ref<Fence>();
  const std::unique_ptr<CommandBuffer> copies = std::move(copies_);
  BATON_TRY_ASSIGN(const Ref<Recording> recording, copies->finish());
  BATON_TRY_ASSIGN(Ref<Semaphore> done, device_->make_semaphore(0));
  const SemaphorePoint point(done, 1);
  BATON_TRY(device_->queue().execute({.signals = {&point, 1}}, *recording));
  return Fence::at(std::move(done), 1);
}

Status Uploads::finish() {
  BATON_TRY_ASSIGN(const Ref<Fence> ready, begin());
  return ready ? ready->wait() : Status();
}

}  // namespace baton::hal
