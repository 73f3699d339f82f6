#include "hal/drivers/local/device.hpp"

#include <algorithm>
#include <cstring>
#include <thread>

#include "hal/drivers/common/host_allocator.hpp"
#include "hal/drivers/common/host_semaphore.hpp"
#include "hal/drivers/common/page_allocator.hpp"
#include "hal/drivers/local/channel.hpp"
#include "hal/drivers/local/code_loader.hpp"
#include "hal/drivers/local/command_buffer.hpp"
#include "hal/drivers/local/executable.hpp"
#include "hal/drivers/local/queue.hpp"
#include "hal/validating_command_buffer.hpp"

namespace baton::hal::drivers::local {
namespace {

class Device final : public hal::Device {
 public:
  Device(std::shared_ptr<const Options> options, const TaskPoolOptions& pool, bool native_code)
      : hal::Device(pool.worker_count ? "local-task" : "local-sync", DeviceLimits{}),
        options_(std::move(options)),
        worker_count_(pool.worker_count),
        native_code_(native_code),
        allocator_(page_allocator(), limits().buffer_bytes_max, this),
        pool_(worker_count_ ? std::make_unique<TaskPool>(pool) : nullptr),
        queue_(pool_ ? make_task_queue(*this, *pool_) : make_sync_queue(*this)) {}

  Allocator& allocator() override { return allocator_; }
  Queue& queue() override { return *queue_; }

  Result<Ref<Semaphore>> make_semaphore(uint64_t initial_value) override {
    return Ref<Semaphore>(make_ref<HostSemaphore>(initial_value, pool_ ? pool_->wait_helper() : nullptr));
  }

  FormatMatch match_format(std::string_view format) const override {
    const FormatMatch match = match_code_format(format);
    if (native_code_ || match.rank < 0 || is_linked_code(format)) return match;
    return {-1, "the device was opened with native_code=0: it runs no code but libraries of the app"};
  }

  Result<int64_t> query(std::string_view category, std::string_view key) const override {
    if (category == "hal.dispatch" && key == "concurrency") return int64_t{std::max(worker_count_, 1u)};
    return hal::Device::query(category, key);
  }

 private:
  Result<Ref<hal::Channel>> do_make_channel(const ChannelRequest& request) override { return Channel::make(request); }

  std::unique_ptr<hal::CommandBuffer> do_make_command_buffer(const RecordingOptions& options) override {
    return make_commands<CommandBuffer>(*this, options);
  }

  Result<Ref<hal::Executable>> do_make_executable(const ExecutableRequest& request,
                                                  const ExecutableVariant& variant) override {
    BATON_TRY_ASSIGN(LoadedCode code, load_code(*options_, variant));
    return Executable::make({this, options_->imports, std::max(worker_count_, 1u), options_->dispatch_times}, request,
                            std::move(code));
  }

  std::shared_ptr<const Options> options_;
  uint32_t worker_count_;
  bool native_code_;
  HostAllocator allocator_;
  std::unique_ptr<TaskPool> pool_;  // Null: local-sync.
  std::unique_ptr<Queue> queue_;
};

}  // namespace

uint32_t default_worker_count() { return std::clamp(std::thread::hardware_concurrency(), 2u, kWorkersMax + 1) - 1; }

Result<Ref<hal::Device>> make_device(std::shared_ptr<const Options> options, const TaskPoolOptions& pool,
                                     bool native_code) {
  return Ref<hal::Device>(make_ref<Device>(std::move(options), pool, native_code));
}

}  // namespace baton::hal::drivers::local
