#include "hal/drivers/vulkan/command_buffer.hpp"

#include <algorithm>

#include "base/bytes.hpp"
#include "hal/drivers/vulkan/device.hpp"
#include "hal/drivers/vulkan/executable.hpp"

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

void CommandBuffer::append(Record& record) {
  record.label = work_label();
  *end_ = &record;
  end_ = &record.next;
}

Status CommandBuffer::add(Record& record) {
  if (segment_) BATON_TRY(close_segment());
  append(record);
  return {};
}

Status CommandBuffer::add_barrier() { return add(*arena().make<Record>(RecordKind::kBarrier)); }

// A row that is longer than the device takes comes in as many pieces as it needs, to kernels that can do with that.
Status CommandBuffer::shape_grid(Launch& launch, const LaunchRequest& request) const {
  const auto most = device_.context().facts().grid_max();
  std::copy(std::begin(request.grid), std::end(request.grid), launch.grid);
  // What the device reads by itself is never folded.
  launch.workgroups = request.grid_at == Launch::kDirect ? request.grid[0] : ~uint32_t{0};
  if (request.grid[0] <= most[0]) return {};
  const uint32_t rows = (request.grid[0] - 1) / most[0] + 1;
  if (!request.pipeline.folds_grid() || request.grid[1] != 1 || request.grid[2] != 1) {
    return failure(StatusCode::kOutOfRange, "Dispatch grid has ", request.grid[0],
                   " workgroups in x; the device takes ", most[0], ".");
  }
  if (rows > most[1]) {
    return failure(StatusCode::kOutOfRange, "Dispatch grid has ", request.grid[0],
                   " workgroups in x; the device takes ", uint64_t{most[0]} * most[1], " in rows of ", most[0], ".");
  }
  launch.grid[0] = (request.grid[0] - 1) / rows + 1;
  launch.grid[1] = rows;
  return {};
}

Status CommandBuffer::launch(const LaunchRequest& request) {
  auto* launch = new (arena().allocate_array<Launch>(1)) Launch{};
  launch->kind = RecordKind::kLaunch;
  launch->pipeline = &request.pipeline;
  launch->bindings = request.bindings;
  launch->constants = arena().copy(request.constants);
  launch->constant_slots = arena().copy(request.constant_slots);
  BATON_TRY(shape_grid(*launch, request));
  launch->grid_at = request.grid_at;
  if (request.pipeline.by_address()) {
    const bool checked = request.executable && request.executable->checks_accesses();
    const uint64_t bytes = 16 * request.bindings.size() + 4 * request.constants.size() + 4;
    BATON_TRY_ASSIGN(launch->record_at, reserve(align_up(bytes, 8) + (checked ? sizeof(FailedAccess) : 0)));
    if (checked) {
      launch->checked = request.executable;
      launch->entry_point = request.entry_point;
      recording_->may_fail_ = true;
    }
  }
  return add(*launch);
}

Status CommandBuffer::launch_copy(const RecordedBinding& source, const RecordedBinding& target, uint64_t length) {
  if (length == 0) return {};
  auto* bindings = arena().allocate_array<RecordedBinding>(2);
  bindings[0] = source;
  bindings[1] = target;
  bindings[0].access = Access::kRead;
  bindings[1].access = Access::kWrite;
  return launch(
      {.pipeline = *device_.builtins().copy, .bindings = {bindings, 2}, .grid = {builtin_workgroups(length), 1, 1}});
}

Result<Ref<hal::Recording>> CommandBuffer::finish() {
  recording_->end_recording();
  return Ref<hal::Recording>(std::move(recording_));
}

}  // namespace baton::hal::drivers::vulkan
