// dispatch_indirect on the host: the grid is read once, when the phase of the dispatch begins.

#include "hal/commands/dispatch_indirect.hpp"

#include <cstring>

#include "hal/device.hpp"
#include "hal/drivers/local/command_buffer.hpp"
#include "hal/drivers/local/kernel_crash.hpp"
#include "hal/drivers/local/launch.hpp"

namespace baton::hal::drivers::local {
namespace {

struct DispatchIndirectRecord : Record {
  Launch launch;
  RecordedBinding grid;
};

// The numbers come from the program's memory: they are checked like those of a dispatch, only later.
Status count_tiles(const Record& record, Execution& execution, uint64_t& tile_count) {
  const auto& indirect = static_cast<const DispatchIndirectRecord&>(record);
  std::memcpy(execution.indirect_grid, indirect.grid.data(execution), sizeof(execution.indirect_grid));
  const uint32_t* grid = execution.indirect_grid;
  const DeviceLimits& limits = execution.device.limits();
  for (int axis = 0; axis < 3; ++axis) {
    if (grid[axis] <= limits.grid_max[axis]) continue;
    return failure(StatusCode::kOutOfRange, "Indirect dispatch grid has ", grid[axis], " workgroups in ", "xyz"[axis],
                   "; the device takes ", limits.grid_max[axis], ".");
  }
  tile_count = uint64_t{grid[0]} * grid[1] * grid[2];
  return {};
}

Status run_dispatch(const Record& record, const Execution& execution, Worker& worker, TileRange tiles) {
  const auto& indirect = static_cast<const DispatchIndirectRecord&>(record);
  return run_with_grid(indirect.launch, execution, worker, tiles, execution.indirect_grid);
}

}  // namespace

Status CommandBuffer::dispatch_indirect(const commands::DispatchIndirect& command) {
  const LaunchShape shape{command.executable, command.entry_point, command.constants, command.constant_slots,
                          command.bindings};
  auto* record = new (arena().allocate_array<DispatchIndirectRecord>(1)) DispatchIndirectRecord;
  record->run = run_dispatch;
  record->grid = RecordedBinding::make(command.grid);
  make_launch(arena(), shape, nullptr, record->launch);
  if (are_kernel_crashes_named()) [[unlikely]]
    note_place(record->launch);
  record->count_tiles = count_tiles;
  record->tile_cost = &record->launch.executable->tile_cost(command.entry_point);
  return append(command, *record);
}

}  // namespace baton::hal::drivers::local
