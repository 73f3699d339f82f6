#include "hal/commands/dispatch.hpp"

namespace baton::hal::commands {

Status validate_in_words(const Dispatch& command, const RecordingScope& scope) {
  BATON_TRY(check_launch(
      scope, {command.executable, command.entry_point, command.constants, command.constant_slots, command.bindings}));
  for (int axis = 0; axis < 3; ++axis) {
    if (command.grid[axis] <= scope.limits.grid_max[axis]) continue;
    return failure(StatusCode::kOutOfRange, "Dispatch grid has ", command.grid[axis], " workgroups in ", "xyz"[axis],
                   "; the device takes ", scope.limits.grid_max[axis], ".");
  }
  return check_grid(command.executable->entry_points()[command.entry_point], command.grid);
}

}  // namespace baton::hal::commands
