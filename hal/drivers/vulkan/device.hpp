// Device of the Vulkan driver: one VkDevice, one queue.
#pragma once

#include "hal/device.hpp"
#include "hal/drivers/vulkan/allocator.hpp"
#include "hal/drivers/vulkan/builtins.hpp"
#include "hal/drivers/vulkan/driver.hpp"
#include "hal/drivers/vulkan/queue.hpp"
#include "hal/drivers/vulkan/work_spans.hpp"

namespace baton::hal::drivers::vulkan {

class Device final : public hal::Device {
 public:
  // `told`: where it tells when it ran what; null: nowhere.
  static Result<Ref<hal::Device>> make(std::string_view name, Ref<Context> context, FunctionList functions,
                                       baton::Timeline* told);
  ~Device() override;

  hal::Allocator& allocator() override { return allocator_; }
  hal::Queue& queue() override { return queue_; }
  Result<Ref<hal::Semaphore>> make_semaphore(uint64_t initial_value) override;
  FormatMatch match_format(std::string_view format) const override;
  Result<int64_t> query(std::string_view category, std::string_view key) const override;

  Context& context() const { return *parts_.context; }
  Timeline& timeline() const { return *parts_.timeline; }
  Memory& memory() const { return *parts_.source->memory; }
  const Builtins& builtins() const { return parts_.builtins; }
  // What stands for a binding of no bytes.
  const Block& empty_block() const { return parts_.empty; }
  // Null: nobody asks when it runs what.
  WorkSpans* spans() const { return parts_.spans.get(); }

 private:
  struct Parts {
    Ref<Context> context;
    Ref<Timeline> timeline;
    Ref<BufferSource> source;
    Ref<Worker> worker;
    Builtins builtins;
    Block empty;
    FunctionList functions;
    std::shared_ptr<WorkSpans> spans;
  };
  template <typename T, typename... Arguments>
  friend Ref<T> baton::make_ref(Arguments&&...);
  Device(std::string_view name, Parts parts, const DeviceLimits& limits);

  std::unique_ptr<hal::CommandBuffer> do_make_command_buffer(const RecordingOptions& options) override;
  Result<Ref<hal::Executable>> do_make_executable(const ExecutableRequest& request,
                                                  const ExecutableVariant& variant) override;

  const Parts parts_;
  Allocator allocator_;
  Queue queue_;
};

}  // namespace baton::hal::drivers::vulkan
