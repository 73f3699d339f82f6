// Device of the null driver: host memory that nothing computes on.
#pragma once

#include "hal/device.hpp"
#include "hal/drivers/common/host_allocator.hpp"
#include "hal/drivers/null/queue.hpp"

namespace baton::hal::drivers::null {

class Device final : public hal::Device {
 public:
  explicit Device(TraceOptions options);

  Allocator& allocator() override { return allocator_; }
  hal::Queue& queue() override { return queue_; }
  Result<Ref<Semaphore>> make_semaphore(uint64_t initial_value) override;
  FormatMatch match_format(std::string_view) const override { return {0, "any code, since none is run"}; }

 private:
  // Peers are only named; the device waits for none.
  Result<Ref<Channel>> do_make_channel(const ChannelRequest& request) override;
  std::unique_ptr<hal::CommandBuffer> do_make_command_buffer(const RecordingOptions& options) override;
  Result<Ref<hal::Executable>> do_make_executable(const ExecutableRequest& request,
                                                  const ExecutableVariant& variant) override;

  HostAllocator allocator_;
  Queue queue_;
};

}  // namespace baton::hal::drivers::null
