#include "hal/validating_command_buffer.hpp"

namespace baton::hal {

Status CommandBuffer::extension(std::string_view name, void*) {
  return failure(StatusCode::kUnimplemented, "There is no '", name, "'.");
}

Status RecordingLaws::finished() const {
  return failure(StatusCode::kFailedPrecondition, "Command buffer \"", name, "\" is finished and takes no commands.");
}

Status RecordingLaws::named(Status status, CommandKind kind) const {
  return std::move(status).with_context(
      text("while recording ", command_verb(kind), " ", command_count, " of command buffer \"", name, "\""));
}

}  // namespace baton::hal
