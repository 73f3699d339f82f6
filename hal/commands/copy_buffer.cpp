#include "hal/commands/copy_buffer.hpp"

namespace baton::hal::commands {

Status validate(const CopyBuffer& command, const RecordingScope& scope) {
  const Binding& source = command.source;
  const Binding& target = command.target;
  BATON_TRY(check_transfer(scope, "Copy source", source, BufferUsage::kTransferSource));
  BATON_TRY(check_transfer(scope, "Copy target", target, BufferUsage::kTransferTarget));
  if (source.length != target.length) {
    return failure(StatusCode::kInvalidArgument, "Copy source (", source.length, " bytes) and target (", target.length,
                   ") have different lengths.");
  }
  if (overlaps(source, target)) {
    return failure(StatusCode::kInvalidArgument, "Copy source [", source.offset, ", ", source.offset + source.length,
                   ") and target [", target.offset, ", ", target.offset + target.length,
                   ") overlap in the same memory.");
  }
  return {};
}

}  // namespace baton::hal::commands
