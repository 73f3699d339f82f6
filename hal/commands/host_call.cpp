#include "hal/commands/host_call.hpp"

namespace baton::hal::commands {

Status validate(const HostCall& command, const RecordingScope& scope) {
  if (!command.function) return failure(StatusCode::kInvalidArgument, "A host call needs a function; it has none.");
  if (command.bindings.size() > scope.limits.bindings_max || command.constants.size() > scope.limits.constants_max) {
    return failure(StatusCode::kInvalidArgument, "Host call has ", command.bindings.size(), " bindings and ",
                   command.constants.size(), " constants; the device takes ", scope.limits.bindings_max, " and ",
                   scope.limits.constants_max, ".");
  }
  BATON_TRY(check_constant_slots(scope, command.constants.size(), command.constant_slots));
  for (const Binding& binding : command.bindings) {
    BATON_TRY(check_binding(scope, "Host call binding", binding, BufferUsage::kMapping));
    if (!binding.is_slot() && has_all(binding.buffer->usage(), BufferUsage::kConstant) &&
        has_any(binding.access, Access::kWrite)) {
      return failure(StatusCode::kPermissionDenied, "Host call binding writes to a constant buffer (usage ",
                     usage_names(binding.buffer->usage()), ").");
    }
  }
  return {};
}

}  // namespace baton::hal::commands
