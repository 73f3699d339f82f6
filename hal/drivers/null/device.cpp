#include "hal/drivers/null/device.hpp"

#include <algorithm>

#include "base/bytes.hpp"
#include "base/text.hpp"
#include "hal/command_list.hpp"
#include "hal/drivers/null/executable.hpp"
#include "hal/drivers/null/trace.hpp"
#include "hal/host_allocator.hpp"
#include "hal/host_function.hpp"
#include "hal/host_queue.hpp"
#include "hal/host_semaphore.hpp"
#include "hal/validating_command_buffer.hpp"

namespace baton::hal::drivers::null {
namespace {

// Memory is zeroed: what nobody computed reads as zeros, in every run.
void* allocate_zeroed(void*, size_t size, size_t alignment, int) {
  return system_allocator().allocate_bytes(system_allocator().self, size, alignment, 1);
}
constexpr baton::Allocator zeroing_allocator() {
  return {nullptr, allocate_zeroed, [](void*, void* memory) { system_allocator().free(memory); }};
}

class NullQueue final : public HostQueue {
 public:
  NullQueue(hal::Device& device, TraceOptions options) : HostQueue(device), trace_(std::move(options)) {}

  // Nothing is run, so nothing takes time.
  Status time_executions(bool on) override { return Queue::time_executions(on); }

 private:
  Status run_recording(Recording& recording, const BindingTable& table) override {
    trace_.execute(static_cast<CommandList&>(recording), table);
    return {};
  }
  Status call(HostFunction& function) override {
    trace_.host_call(function.name());
    return {};
  }

  Trace trace_;
};

// Whatever a custom command wants to enqueue with is granted and is nothing: the struct is filled with zeros, and what
// would have been enqueued stands in the recording as a foreign call that says no more than who asked for what.
class NullCommandBuffer final : public ListingCommandBuffer {
 public:
  using ListingCommandBuffer::ListingCommandBuffer;

  Status begin_custom(const CustomCommand& command) override {
    custom_ = text(command.module, ".", command.function);
    return {};
  }
  Status end_custom(const CustomCommand&) override {
    custom_.clear();
    return {};
  }
  Status extension(std::string_view name, void* out) override {
    if (custom_.empty()) {
      return failure(StatusCode::kFailedPrecondition, "Extension '", name,
                     "' is for a custom command while it records; none does.");
    }
    auto* bytes = static_cast<std::byte*>(out);
    const auto size = load_bytes<uint32_t>(bytes);
    if (size < sizeof(size) || size > kExtensionBytesMax) {
      return failure(StatusCode::kInvalidArgument, "Extension '", name, "' takes a struct of 4 to ", kExtensionBytesMax,
                     " bytes; struct_size says ", size, ".");
    }
    std::fill(bytes + sizeof(size), bytes + size, std::byte{0});
    const auto opaque =
        make_foreign_function(text(custom_, " (", name, ")"), [](const ForeignArguments&) -> Status { return {}; });
    return foreign({.function = opaque.get()});
  }

 private:
  static constexpr uint32_t kExtensionBytesMax = 4096;
  std::string custom_;  // The command that records now; empty: none does.
};

class NullDevice final : public hal::Device {
 public:
  explicit NullDevice(TraceOptions options)
      : Device("null", DeviceLimits{}),
        allocator_(zeroing_allocator(), limits().buffer_bytes_max, this),
        queue_(*this, std::move(options)) {}

  Allocator& allocator() override { return allocator_; }
  Queue& queue() override { return queue_; }
  Result<Ref<Semaphore>> make_semaphore(uint64_t initial_value) override {
    return Ref<Semaphore>(make_ref<HostSemaphore>(initial_value));
  }
  Result<Ref<Channel>> make_channel(std::string_view name, uint32_t rank, uint32_t rank_count) override {
    return make_ref<Channel>(name, rank, rank_count);
  }
  FormatMatch match_format(std::string_view) const override { return {0, "any code, since none is run"}; }

 private:
  std::unique_ptr<CommandBuffer> do_make_command_buffer(const RecordingOptions& options) override {
    return make_commands<NullCommandBuffer>(*this, options);
  }
  Result<Ref<hal::Executable>> do_make_executable(const ExecutableRequest& request, const ExecutableVariant&) override {
    return Ref<hal::Executable>(make_ref<Executable>(request, this));
  }

  HostAllocator allocator_;
  NullQueue queue_;
};

}  // namespace

Ref<hal::Device> make_device(TraceOptions options) { return make_ref<NullDevice>(std::move(options)); }

}  // namespace baton::hal::drivers::null
