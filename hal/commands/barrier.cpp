#include "hal/commands/barrier.hpp"

namespace baton::hal::commands {

Status check_ranges(const Barrier& command, const RecordingScope& scope) {
  for (const Binding& binding : command.bindings) {
    BATON_TRY(check_binding(scope, "Barrier range", binding, BufferUsage::kNone));
  }
  return {};
}

}  // namespace baton::hal::commands
