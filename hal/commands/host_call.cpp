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
    // A function works on what kernels work on: drivers copy what the host cannot see. Memory to map will do, too.
    const bool mapped = !binding.is_slot() && has_all(binding.buffer->usage(), BufferUsage::kMapping);
    const BufferUsage usage = mapped ? BufferUsage::kMapping : usage_of(binding, BufferUsage::kDispatch);
    BATON_TRY(check_binding(scope, "Host call binding", binding, usage));
    if (!binding.is_slot() && has_all(binding.buffer->usage(), BufferUsage::kConstant) &&
        has_any(binding.access, Access::kWrite)) {
      return failure(StatusCode::kPermissionDenied, "Host call binding writes to a constant buffer (usage ",
                     usage_names(binding.buffer->usage()), ").");
    }
  }
  return {};
}

}  // namespace baton::hal::commands
