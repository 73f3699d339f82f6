#include "hal/drivers/cuda/device.hpp"

#include "hal/drivers/common/device_answer.hpp"
#include "hal/drivers/cuda/command_buffer.hpp"
#include "hal/drivers/cuda/executable.hpp"
#include "hal/drivers/cuda/nccl_channel.hpp"
#include "hal/drivers/cuda/variants.hpp"
#include "hal/validating_command_buffer.hpp"

namespace baton::hal::drivers::cuda {
namespace {

DeviceLimits limits_of(const DeviceFacts& facts) {
  DeviceLimits limits;
  for (int axis = 0; axis < 3; ++axis) limits.grid_max[axis] = static_cast<uint32_t>(facts.grid_max[axis]);
  limits.local_memory_bytes_max = static_cast<uint32_t>(facts.shared_bytes_max);
  return limits;
}

}  // namespace

Result<Ref<hal::Device>> Device::make(std::string_view name, Ref<PrimaryContext> context, const DeviceOptions& options,
                                      std::shared_ptr<const Nccl> nccl) {
  Queue::Parts parts;
  parts.context = context;
  parts.mode = options.mode;
  parts.timed = options.graph_report;
  for (uint32_t i = 0; i < options.stream_count; ++i) {
    BATON_TRY_ASSIGN(Ref<Stream> stream, Stream::make(context));
    parts.streams.push_back(std::move(stream));
  }
  parts.worker = make_ref<Worker>(parts.streams);
  BATON_TRY_ASSIGN(parts.memory, Memory::make(context, parts.streams));
  const DeviceLimits limits = limits_of(context->facts());
  return Ref<hal::Device>(make_ref<Device>(name, std::move(parts), limits, options, std::move(nccl)));
}

Device::Device(std::string_view name, Queue::Parts parts, const DeviceLimits& limits, const DeviceOptions& options,
               std::shared_ptr<const Nccl> nccl)
    : hal::Device(name, limits),
      parts_(std::move(parts)),
      nccl_(std::move(nccl)),
      peer_reduction_(options.peer_reduction),
      functions_(options.functions),
      allocator_(parts_.memory, limits.buffer_bytes_max, *this),
      builtins_(parts_.context),
      capture_(parts_.context, options.captures),
      queue_(*this, parts_) {}

// Everything that runs keeps its recording, and so the device; what is left is to let go of buffers.
Device::~Device() {
  for (const Ref<Stream>& stream : parts_.streams) {
    const Status drained = stream->drain();
    stream->reap(true);
    stream->drop_bound_tables();
  }
  parts_.worker->stop();
}

Result<Ref<hal::Semaphore>> Device::make_semaphore(uint64_t initial_value) {
  return Ref<hal::Semaphore>(make_ref<Semaphore>(parts_.worker, initial_value));
}

Result<Ref<Channel>> Device::do_make_channel(const ChannelRequest& request) {
  return NcclChannel::make(context(), parts_.worker, nccl_, peer_reduction_, request);
}

FormatMatch Device::match_format(std::string_view format) const {
  return cuda::match_format(context().facts().arch(), format);
}

Result<int64_t> Device::query(std::string_view category, std::string_view key) const {
  const DeviceFacts& facts = context().facts();
  const int64_t bytes_per_second = facts.peak_bytes_per_second(), flops_per_second = facts.peak_f32_flops_per_second();
  if (category == "hal.device" && key == "peak_bytes_per_second" && bytes_per_second != 0) return bytes_per_second;
  if (category == "hal.device" && key == "peak_f32_flops_per_second" && flops_per_second != 0) return flops_per_second;
  const auto answer = find_answer(
      {
          {"hal.device", "architecture", facts.arch()},
          {"hal.device", "memory_bytes", static_cast<int64_t>(facts.memory_bytes)},
          {"hal.device", "driver_version", facts.driver_version},
          {"hal.device", "shared_memory_bytes_max", facts.shared_bytes_max},
          {"hal.device", "threads_max", facts.threads_per_block_max},
          {"hal.dispatch", "concurrency", facts.multiprocessors},
          // For libraries of CUDA's own: cudaSetDevice, cuCtxPushCurrent.
          {"cuda", "ordinal", context().device()},
          {"cuda", "context", static_cast<int64_t>(reinterpret_cast<uintptr_t>(context().handle()))},
      },
      category, key);
  if (answer) return *answer;
  return hal::Device::query(category, key);
}

std::unique_ptr<hal::CommandBuffer> Device::do_make_command_buffer(const RecordingOptions& options) {
  return make_commands<cuda::CommandBuffer>(*this, options);
}

Result<Ref<hal::Executable>> Device::do_make_executable(const ExecutableRequest& request,
                                                        const ExecutableVariant& variant) {
  return Executable::make(parts_.context, this, {request, variant, functions_, *parts_.memory});
}

}  // namespace baton::hal::drivers::cuda
