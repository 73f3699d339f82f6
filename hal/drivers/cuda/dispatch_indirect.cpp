// dispatch_indirect on CUDA: the host reads the grid when the device has written it, then launches.
//
// CUDA launches no grid that it reads from memory itself, but for kernels of a graph that other kernels update, which
// need a device runtime linked in. So a recording with an indirect dispatch is no graph, and is executed by the
// device's worker, which waits for the stream here.

#include "hal/commands/dispatch_indirect.hpp"

#include "hal/device.hpp"
#include "hal/drivers/cuda/command_buffer.hpp"
#include "hal/drivers/cuda/launch.hpp"

namespace baton::hal::drivers::cuda {
namespace {

struct alignas(16) IndirectRecord : Record {
  Launch launch;
  RecordedBinding grid;
};

Status read_grid(const IndirectRecord& command, const Execution& execution, uint32_t (&grid)[3]) {
  BATON_TRY_ASSIGN(Block staging, execution.memory.take_staging(sizeof(grid)));
  const Symbols& symbols = execution.symbols();
  const CUstream stream = execution.stream.handle();
  CUresult result = symbols.cuMemcpyAsync(staging.address, command.grid.address(execution), sizeof(grid), stream);
  if (result == CUDA_SUCCESS) result = symbols.cuStreamSynchronize(stream);
  std::memcpy(grid, staging.host, sizeof(grid));
  execution.memory.give_pinned(std::move(staging));
  return execution.context.status_of(result, "Reading an indirect grid");
}

Status issue_indirect(Record& record, const Execution& execution) {
  const auto& command = static_cast<const IndirectRecord&>(record);
  uint32_t grid[3];
  BATON_TRY(read_grid(command, execution, grid));
  for (int axis = 0; axis < 3; ++axis) {
    const uint32_t limit = execution.device.limits().grid_max[axis];
    if (grid[axis] <= limit) continue;
    return failure(StatusCode::kOutOfRange, "Indirect dispatch grid has ", grid[axis], " workgroups in ", "xyz"[axis],
                   "; the device takes ", limit, ".")
        .with_context(text("for entry point '", command.launch.kernel->name, "'"));
  }
  if (grid[0] == 0 || grid[1] == 0 || grid[2] == 0) return {};
  const LaunchParameters parameters(command.launch, execution);
  return launch(command.launch, grid, parameters, execution);
}

constexpr RecordVerbs kIndirect = {issue_indirect, nullptr, nullptr};

}  // namespace

Status CommandBuffer::dispatch_indirect(const commands::DispatchIndirect& command) {
  const LaunchShape shape{command.executable, command.entry_point, command.constants, command.constant_slots,
                          command.bindings};
  auto* record = make_launch_record<IndirectRecord>(arena(), shape);
  BATON_TRY(watch_accesses(record->launch, shape));
  record->grid = RecordedBinding::make(command.grid);
  note_kernel(record->launch.kernel->name);
  note_obstacle("an indirect dispatch, whose grid the host reads");
  recording_->blocks_host_ = true;
  return append(command, *record, kIndirect);
}

}  // namespace baton::hal::drivers::cuda
