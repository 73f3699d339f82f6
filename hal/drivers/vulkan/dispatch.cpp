// dispatch on Vulkan: a launch of the executable's pipeline.

#include "hal/commands/dispatch.hpp"

#include "hal/drivers/vulkan/command_buffer.hpp"
#include "hal/drivers/vulkan/executable.hpp"

namespace baton::hal::drivers::vulkan {

Status CommandBuffer::dispatch(const commands::Dispatch& command) {
  const auto& executable = static_cast<const Executable&>(*command.executable);
  if (command.grid[0] != 0 && command.grid[1] != 0 && command.grid[2] != 0) {
    BATON_TRY(launch({.pipeline = executable.pipeline(command.entry_point),
                      .bindings = copy_bindings(command.bindings),
                      .constants = command.constants,
                      .constant_slots = command.constant_slots,
                      .grid = {command.grid[0], command.grid[1], command.grid[2]},
                      .executable = &executable,
                      .entry_point = command.entry_point}));
  }
  return note(command);
}

}  // namespace baton::hal::drivers::vulkan
