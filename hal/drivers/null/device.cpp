#include "hal/drivers/null/device.hpp"

#include "hal/drivers/common/host_semaphore.hpp"
#include "hal/drivers/common/page_allocator.hpp"
#include "hal/drivers/null/command_buffer.hpp"
#include "hal/drivers/null/executable.hpp"
#include "hal/validating_command_buffer.hpp"

namespace baton::hal::drivers::null {
namespace {

// Memory is zeroed: what no command computed reads as zeros, in every run.
void* allocate_zeroed(void*, size_t size, size_t alignment, int) {
  return page_allocator().allocate_bytes(page_allocator().self, size, alignment, 1);
}
constexpr baton::Allocator zeroing_allocator() {
  return {nullptr, allocate_zeroed, [](void*, void* memory) { page_allocator().free(memory); }};
}

}  // namespace

Device::Device(TraceOptions options)
    : hal::Device("null", DeviceLimits{}),
      allocator_(zeroing_allocator(), limits().buffer_bytes_max, this),
      queue_(*this, std::move(options)) {}

Result<Ref<Semaphore>> Device::make_semaphore(uint64_t initial_value) {
  return Ref<Semaphore>(make_ref<HostSemaphore>(initial_value));
}

Result<Ref<Channel>> Device::do_make_channel(const ChannelRequest& request) {
  return make_ref<Channel>(request.name, request.rank, request.rank_count);
}

std::unique_ptr<hal::CommandBuffer> Device::do_make_command_buffer(const RecordingOptions& options) {
  return make_commands<null::CommandBuffer>(*this, options);
}

Result<Ref<hal::Executable>> Device::do_make_executable(const ExecutableRequest& request, const ExecutableVariant&) {
  return Ref<hal::Executable>(make_ref<Executable>(request, this));
}

}  // namespace baton::hal::drivers::null
