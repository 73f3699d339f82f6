#include "hal/commands/dispatch_indirect.hpp"

namespace baton::hal::commands {

Status validate(const DispatchIndirect& command, const RecordingScope& scope) {
  if (!is_plain_launch(scope, command)) {
    BATON_TRY(check_launch(
        scope, {command.executable, command.entry_point, command.constants, command.constant_slots, command.bindings}));
  }
  BATON_TRY(check_transfer(scope, "Indirect grid", command.grid, BufferUsage::kIndirectGrid));
  if (command.grid.length != kIndirectGridBytes) {
    return failure(StatusCode::kInvalidArgument, "Indirect grid has ", command.grid.length, " bytes; it must have ",
                   kIndirectGridBytes, ".");
  }
  return check_alignment("Indirect grid offset", command.grid.offset, sizeof(uint32_t));
}

}  // namespace baton::hal::commands
