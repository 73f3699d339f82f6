// dispatch_indirect on Vulkan: a kernel checks the grid, which comes from the program's memory, and puts it into the
// table; the dispatch reads it there. A grid that the device cannot launch launches nothing, and fails the work.

#include "hal/commands/dispatch_indirect.hpp"

#include "hal/drivers/vulkan/command_buffer.hpp"
#include "hal/drivers/vulkan/device.hpp"
#include "hal/drivers/vulkan/executable.hpp"

namespace baton::hal::drivers::vulkan {

Status CommandBuffer::dispatch_indirect(const commands::DispatchIndirect& command) {
  const auto& executable = static_cast<const Executable&>(*command.executable);
  BATON_TRY_ASSIGN(const uint32_t grid_at, reserve(sizeof(CheckedGrid)));
  auto* bindings = arena().allocate_array<RecordedBinding>(2);
  bindings[0] = RecordedBinding::make(command.grid);
  bindings[0].access = Access::kRead;
  bindings[1] = RecordedBinding::in_table(grid_at, sizeof(CheckedGrid));
  BATON_TRY(launch({.pipeline = *device_.builtins().check_grid,
                    .bindings = {bindings, 2},
                    .constants = device_.context().facts().grid_max()}));
  BATON_TRY(add_barrier());
  recording_->may_fail_ = true;
  BATON_TRY(launch({.pipeline = executable.pipeline(command.entry_point),
                    .bindings = copy_bindings(command.bindings),
                    .constants = command.constants,
                    .constant_slots = command.constant_slots,
                    .grid_at = grid_at,
                    .executable = &executable,
                    .entry_point = command.entry_point}));
  return note(command);
}

}  // namespace baton::hal::drivers::vulkan
