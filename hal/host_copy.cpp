#include "hal/host_copy.hpp"

#include <cstring>

#include "hal/allocator.hpp"
#include "hal/commands/copy_buffer.hpp"
#include "hal/queue.hpp"
#include "hal/staging.hpp"
#include "hal/uploads.hpp"

namespace baton::hal {

bool can_map(const Buffer& buffer) {
  return has_all(buffer.memory(), MemoryKind::kHostVisible) && has_all(buffer.usage(), BufferUsage::kMapping);
}

Result<Ref<Buffer>> make_staging(Device& device, uint64_t length) {
  return device.allocator().allocate({.length = length,
                                      .memory = MemoryKind::kHostVisible | MemoryKind::kHostCached,
                                      .usage = BufferUsage::kTransfer | BufferUsage::kMapping});
}

namespace {

Status copy_and_wait(Device& device, const BufferRange& source, const BufferRange& target) {
  BATON_TRY_ASSIGN(const Ref<Semaphore> done, device.make_semaphore(0));
  const SemaphorePoint point(done, 1);
  BATON_TRY(device.queue().copy_buffer({.signals = {&point, 1}}, {.source = source, .target = target}));
  return done->wait(1);
}

Status read_mapped(const BufferRange& source, std::span<std::byte> target) {
  BATON_TRY_ASSIGN(const Mapping mapping, source.buffer->map(Access::kRead, source.offset, target.size()));
  std::memcpy(target.data(), mapping.bytes().data(), target.size());
  return {};
}

Status write_mapped(std::span<const std::byte> source, const BufferRange& target) {
  BATON_TRY_ASSIGN(const Mapping mapping, target.buffer->map(Access::kDiscardWrite, target.offset, source.size()));
  std::memcpy(mapping.bytes().data(), source.data(), source.size());
  return {};
}

}  // namespace

Status copy_to_host(Device& device, const BufferRange& source, std::span<std::byte> target) {
  if (target.empty()) return {};
  if (can_map(*source.buffer)) return read_mapped(source, target);
  BATON_TRY_ASSIGN(const Ref<Buffer> staging, make_staging(device, target.size()));
  BATON_TRY(copy_and_wait(device, {source.buffer, source.offset, target.size()}, staging));
  return read_mapped(staging, target);
}

Status copy_from_host(Device& device, std::span<const std::byte> source, const BufferRange& target) {
  if (source.empty()) return {};
  // A constant may be mapped, but not to write what will be constant.
  const bool writable = !has_all(target.buffer->usage(), BufferUsage::kConstant);
  if (writable && can_map(*target.buffer)) return write_mapped(source, target);
  BATON_TRY_ASSIGN(const Ref<Buffer> staging, make_staging(device, source.size()));
  BATON_TRY(write_mapped(source, staging));
  return copy_and_wait(device, staging, {target.buffer, target.offset, source.size()});
}

Result<Ref<Buffer>> upload_buffer(Device& device, std::span<const std::byte> bytes) {
  Uploads uploads(device);
  BATON_TRY_ASSIGN(Ref<Buffer> buffer, uploads.add(bytes));
  BATON_TRY(uploads.finish());
  return buffer;
}

Result<Ref<BufferView>> upload_view(Device& device, ElementType element_type, std::span<const int64_t> shape,
                                    std::span<const std::byte> elements) {
  Uploads uploads(device);
  BATON_TRY_ASSIGN(Ref<BufferView> view, uploads.add(element_type, shape, elements));
  BATON_TRY(uploads.finish());
  return view;
}

}  // namespace baton::hal
