#include "hal/commands/fill_buffer.hpp"

#include <bit>

namespace baton::hal::commands {

Status validate(const FillBuffer& command, const RecordingScope& scope) {
  if (command.pattern_bytes > 8 || !std::has_single_bit(command.pattern_bytes)) {
    return failure(StatusCode::kInvalidArgument, "Fill pattern has ", command.pattern_bytes,
                   " bytes; it must have 1, 2, 4 or 8.");
  }
  BATON_TRY(check_transfer(scope, "Fill target", command.target, BufferUsage::kTransferTarget));
  BATON_TRY(check_alignment("Fill target offset", command.target.offset, command.pattern_bytes));
  return check_alignment("Fill target length", command.target.length, command.pattern_bytes);
}

}  // namespace baton::hal::commands
