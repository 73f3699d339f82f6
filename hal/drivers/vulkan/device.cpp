#include "hal/drivers/vulkan/device.hpp"

#include <algorithm>
#include <cstring>

#include "hal/drivers/common/device_answer.hpp"
#include "hal/drivers/vulkan/command_buffer.hpp"
#include "hal/drivers/vulkan/executable.hpp"
#include "hal/drivers/vulkan/spirv_features.hpp"
#include "hal/interface/spirv.hpp"
#include "hal/validating_command_buffer.hpp"

namespace baton::hal::drivers::vulkan {
namespace {

constexpr uint64_t kEmptyBytes = 16;

DeviceLimits limits_of(const DeviceFacts& facts) {
  DeviceLimits limits;
  // In x as much as kernels that fold their grid take; what the device takes of others is checked when it is recorded.
  for (int axis = 1; axis < 3; ++axis) {
    limits.grid_max[axis] = std::min(facts.limits.maxComputeWorkGroupCount[axis], 0x7fffffffu);
  }
  limits.local_memory_bytes_max = facts.limits.maxComputeSharedMemorySize;
  limits.buffer_bytes_max = facts.allocation_bytes_max;
  return limits;
}

}  // namespace

Result<Ref<hal::Device>> Device::make(std::string_view name, Ref<Context> context, FunctionList functions,
                                      baton::Timeline* told) {
  Parts parts;
  parts.functions = std::move(functions);
  parts.context = context;
  BATON_TRY_ASSIGN(parts.timeline, Timeline::make(context));
  if (told) {
    auto spans = WorkSpans::make(*parts.timeline, *told, text("vulkan ", name));
    if (spans.has_value()) {
      parts.spans = std::move(spans).value();
    } else {
      told->note(text("What Vulkan devices run is not told: ", spans.error().message()));
    }
  }
  parts.source = make_ref<BufferSource>(make_ref<Memory>(context), make_ref<SingleCommands>(parts.timeline));
  parts.worker = make_ref<Worker>();
  BATON_TRY_ASSIGN(parts.builtins, make_builtins(context));
  BATON_TRY_ASSIGN(parts.empty, parts.source->memory->take(kEmptyBytes, BlockKind::kHost));
  std::memset(parts.empty.host(), 0, kEmptyBytes);
  const DeviceLimits limits = limits_of(context->facts());
  return Ref<hal::Device>(make_ref<Device>(name, std::move(parts), limits));
}

Device::Device(std::string_view name, Parts parts, const DeviceLimits& limits)
    : hal::Device(name, limits),
      parts_(std::move(parts)),
      allocator_(parts_.source, limits.buffer_bytes_max, *this),
      queue_(*this, parts_.timeline, parts_.worker) {}

// Everything that runs keeps its recording, and so the device.
Device::~Device() {
  parts_.worker->stop();
  parts_.timeline->stop();
  memory().give(parts_.empty);
}

Result<Ref<hal::Semaphore>> Device::make_semaphore(uint64_t initial_value) {
  return Ref<hal::Semaphore>(make_ref<Semaphore>(parts_.timeline, initial_value));
}

FormatMatch Device::match_format(std::string_view format) const {
  if (is_spirv_format(format)) return {100, "SPIR-V, compiled by the driver"};
  if (format == spirv::kHandingFormat) {
    // Groups of eight gain where a subgroup is little more: lavapipe has 8. An H200 has 32 and took up to 1.7 times as long.
    constexpr uint32_t kGainMax = 16;
    const DeviceFacts& facts = context().facts();
    const int score = facts.subgroup_size <= kGainMax ? 110 : 90;
    if (hands_over(facts)) return {score, "SPIR-V whose threads hand over what they hold"};
    return {-1, "wants whole subgroups of 8 to 64 threads that can shuffle"};
  }
  return {-1, "is no format of Vulkan code (vulkan-spirv-fb, vulkan-spirv-subgroup8, spirv)"};
}

Result<int64_t> Device::query(std::string_view category, std::string_view key) const {
  const DeviceFacts& facts = context().facts();
  const auto answer = find_answer(
      {
          {"hal.device", "memory_bytes", static_cast<int64_t>(facts.memory_bytes())},
          {"hal.device", "shared_memory_bytes_max", int64_t{facts.limits.maxComputeSharedMemorySize}},
          {"hal.device", "threads_max", int64_t{facts.limits.maxComputeWorkGroupInvocations}},
          {"hal.device", "subgroup_size", int64_t{facts.subgroup_size}},
      },
      category, key);
  if (answer) return *answer;
  return hal::Device::query(category, key);
}

std::unique_ptr<hal::CommandBuffer> Device::do_make_command_buffer(const RecordingOptions& options) {
  return make_commands<vulkan::CommandBuffer>(*this, options);
}

Result<Ref<hal::Executable>> Device::do_make_executable(const ExecutableRequest& request,
                                                        const ExecutableVariant& variant) {
  return Executable::make(parts_.context, this, request, variant, *parts_.functions);
}

}  // namespace baton::hal::drivers::vulkan
