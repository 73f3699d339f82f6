// dispatch on the host: each workgroup is a tile and a call of the kernel.

#include "hal/commands/dispatch.hpp"

#include "hal/drivers/local/command_buffer.hpp"
#include "hal/drivers/local/kernel_crash.hpp"
#include "hal/drivers/local/launch.hpp"

namespace baton::hal::drivers::local {
namespace {

struct DispatchRecord : Record {
  Launch launch;
};

Status run_dispatch(const Record& record, const Execution& execution, Worker& worker, TileRange tiles) {
  return fill_and_run(static_cast<const DispatchRecord&>(record).launch, execution, worker, tiles);
}
Status run_fixed_dispatch(const Record& record, const Execution& execution, Worker& worker, TileRange tiles) {
  return run_fixed(static_cast<const DispatchRecord&>(record).launch, execution, worker, tiles);
}

}  // namespace

Status CommandBuffer::dispatch(const commands::Dispatch& command) {
  const LaunchShape shape{command.executable, command.entry_point, command.constants, command.constant_slots,
                          command.bindings};
  auto* record = new (arena().allocate_array<DispatchRecord>(1)) DispatchRecord;  // Its launch is filled in place.
  make_launch(arena(), shape, command.grid, record->launch);
  if (are_kernel_crashes_named()) [[unlikely]]
    note_place(record->launch);
  record->run = record->launch.fixed ? run_fixed_dispatch : run_dispatch;
  record->tile_count = uint64_t{command.grid[0]} * command.grid[1] * command.grid[2];
  record->tile_cost = &record->launch.executable->tile_cost(command.entry_point);
  return append(command, *record);
}

}  // namespace baton::hal::drivers::local
