// Device of the CUDA driver: one GPU, through its primary context.
#pragma once

#include "hal/device.hpp"
#include "hal/drivers/cuda/allocator.hpp"
#include "hal/drivers/cuda/builtins.hpp"
#include "hal/drivers/cuda/capture.hpp"
#include "hal/drivers/cuda/driver.hpp"
#include "hal/drivers/cuda/queue.hpp"

namespace baton::hal::drivers::cuda {

struct Nccl;

struct DeviceOptions {
  Mode mode = Mode::kAuto;
  uint32_t stream_count = 1;
  bool graph_report = false;  // Take times; the report is printed when a recording goes.
  CaptureOptions captures = {};
  FunctionList functions = nullptr;  // Null: none.
  bool peer_reduction = true;        // Small all-reduces go through the memory of peers.
};

class Device final : public hal::Device {
 public:
  static Result<Ref<hal::Device>> make(std::string_view name, Ref<PrimaryContext> context, const DeviceOptions& options,
                                       std::shared_ptr<const Nccl> nccl);
  ~Device() override;

  Allocator& allocator() override { return allocator_; }
  Queue& queue() override { return queue_; }
  Result<Ref<hal::Semaphore>> make_semaphore(uint64_t initial_value) override;
  FormatMatch match_format(std::string_view format) const override;
  Result<int64_t> query(std::string_view category, std::string_view key) const override;

  PrimaryContext& context() const { return *parts_.context; }
  Memory& memory() const { return *parts_.memory; }
  Builtins& builtins() { return builtins_; }
  Capture& capture() { return capture_; }

 private:
  template <typename T, typename... Arguments>
  friend Ref<T> baton::make_ref(Arguments&&...);
  Device(std::string_view name, Queue::Parts parts, const DeviceLimits& limits, const DeviceOptions& options,
         std::shared_ptr<const Nccl> nccl);

  Result<Ref<Channel>> do_make_channel(const ChannelRequest& request) override;
  std::unique_ptr<hal::CommandBuffer> do_make_command_buffer(const RecordingOptions& options) override;
  Result<Ref<hal::Executable>> do_make_executable(const ExecutableRequest& request,
                                                  const ExecutableVariant& variant) override;

  const Queue::Parts parts_;
  const std::shared_ptr<const Nccl> nccl_;  // Null: the machine's.
  const bool peer_reduction_;
  const FunctionList functions_;
  Allocator allocator_;
  Builtins builtins_;
  Capture capture_;
  Queue queue_;
};

}  // namespace baton::hal::drivers::cuda
