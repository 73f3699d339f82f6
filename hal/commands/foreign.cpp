#include "hal/commands/foreign.hpp"

namespace baton::hal::commands {

Status validate(const Foreign& command, const RecordingScope& scope) {
  if (!command.function) return failure(StatusCode::kInvalidArgument, "A foreign call needs a function; it has none.");
  if (command.bindings.size() > scope.limits.bindings_max || command.constants.size() > scope.limits.constants_max) {
    return failure(StatusCode::kInvalidArgument, "Foreign call has ", command.bindings.size(), " bindings and ",
                   command.constants.size(), " constants; the device takes ", scope.limits.bindings_max, " and ",
                   scope.limits.constants_max, ".");
  }
  BATON_TRY(check_constant_slots(scope, command.constants.size(), command.constant_slots));
  for (const Binding& binding : command.bindings) {
    const BufferUsage usage = usage_of(binding, BufferUsage::kDispatch);
    BATON_TRY(check_binding(scope, "Foreign call binding", binding, usage));
  }
  return {};
}

}  // namespace baton::hal::commands
