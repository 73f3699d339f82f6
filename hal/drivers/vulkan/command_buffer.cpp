#include "hal/drivers/vulkan/command_buffer.hpp"

#include <algorithm>

#include "base/bytes.hpp"
#include "hal/drivers/vulkan/device.hpp"

namespace baton::hal::drivers::vulkan {
namespace {

// Offsets in a table are 32 bits; a recording that needs more is a mistake.
constexpr uint64_t kTableBytesMax = uint64_t{1} << 30;
constexpr uint64_t kPlaceAlignment = 16;

}  // namespace

CommandBuffer::CommandBuffer(Device& device, const RecordingOptions& options)
    : device_(device), recording_(make_ref<Recording>(device, options)), end_(&recording_->first_) {}

Result<uint32_t> CommandBuffer::reserve(uint64_t bytes) {
  const uint32_t at = recording_->table_bytes_;
  const uint64_t end = align_up(at + bytes, kPlaceAlignment);
  if (bytes > kTableBytesMax || end > kTableBytesMax) {
    return failure(StatusCode::kResourceExhausted, "The recording needs a table of ", end, " bytes; at most ",
                   kTableBytesMax, " are possible.");
  }
  recording_->table_bytes_ = static_cast<uint32_t>(end);
  return at;
}

std::span<const RecordedBinding> CommandBuffer::copy_bindings(std::span<const Binding> bindings) {
  auto* recorded = arena().allocate_array<RecordedBinding>(bindings.size());
  std::transform(bindings.begin(), bindings.end(), recorded, RecordedBinding::make);
  return {recorded, bindings.size()};
}

void CommandBuffer::add(Record& record) {
  *end_ = &record;
  end_ = &record.next;
}

void CommandBuffer::add_barrier() { add(*arena().make<Record>(RecordKind::kBarrier)); }

Status CommandBuffer::launch(const LaunchRequest& request) {
  auto* launch = new (arena().allocate_array<Launch>(1)) Launch{};
  launch->kind = RecordKind::kLaunch;
  launch->pipeline = &request.pipeline;
  launch->bindings = request.bindings;
  launch->constants = arena().copy(request.constants);
  launch->constant_slots = arena().copy(request.constant_slots);
  std::copy(std::begin(request.grid), std::end(request.grid), launch->grid);
  launch->grid_at = request.grid_at;
  if (request.pipeline.by_address()) {
    BATON_TRY_ASSIGN(launch->record_at, reserve(16 * request.bindings.size() + 4 * request.constants.size()));
  }
  add(*launch);
  return {};
}

Status CommandBuffer::launch_copy(const RecordedBinding& source, const RecordedBinding& target, uint64_t length) {
  if (length == 0) return {};
  auto* bindings = arena().allocate_array<RecordedBinding>(2);
  bindings[0] = source;
  bindings[1] = target;
  return launch(
      {.pipeline = *device_.builtins().copy, .bindings = {bindings, 2}, .grid = {builtin_workgroups(length), 1, 1}});
}

Result<Ref<hal::Recording>> CommandBuffer::finish() {
  recording_->end_recording();
  return Ref<hal::Recording>(std::move(recording_));
}

}  // namespace baton::hal::drivers::vulkan
