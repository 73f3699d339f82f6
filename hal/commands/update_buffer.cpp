#include "hal/commands/update_buffer.hpp"

namespace baton::hal::commands {

Status validate(const UpdateBuffer& command, const RecordingScope& scope) {
  if (command.source.size() > scope.limits.update_bytes_max) {
    return failure(StatusCode::kOutOfRange, "Update source (", command.source.size(),
                   " bytes) exceeds the limit of the device (", scope.limits.update_bytes_max, ").");
  }
  BATON_TRY(check_transfer(scope, "Update target", command.target, BufferUsage::kTransferTarget));
  if (command.target.length != command.source.size()) {
    return failure(StatusCode::kInvalidArgument, "Update target (", command.target.length,
                   " bytes) is not as long as the source (", command.source.size(), ").");
  }
  return {};
}

}  // namespace baton::hal::commands
