#include "hal/validating_command_buffer.hpp"

#include "hal/commands/all.hpp"
#include "hal/recording.hpp"

namespace baton::hal {

Status CommandBuffer::extension(std::string_view name, void*) {
  return failure(StatusCode::kUnimplemented, "There is no '", name, "'.");
}

Status ValidatingCommandBuffer::finished() const {
  return failure(StatusCode::kFailedPrecondition, "Command buffer \"", name_, "\" is finished and takes no commands.");
}

Status ValidatingCommandBuffer::named(Status status, CommandKind kind) const {
  return std::move(status).with_context(
      text("while recording ", command_verb(kind), " ", command_count_, " of command buffer \"", name_, "\""));
}

template <typename Command>
Status ValidatingCommandBuffer::check(const Command& command) {
  if (!target_) return finished();
  Status status = validate(command, scope_);
  return status.ok() ? std::move(status) : named(std::move(status), kind_of<Command>);
}

#define COMMAND(Struct, verb, category)                                   \
  Status ValidatingCommandBuffer::verb(const commands::Struct& command) { \
    BATON_TRY(check(command));                                            \
    Status status = target_->verb(command);                               \
    if (!status.ok()) [[unlikely]]                                        \
      return named(std::move(status), CommandKind::k##Struct);            \
    ++command_count_;                                                     \
    return status;                                                        \
  }
#include "hal/commands/commands.inc"
#undef COMMAND

Status ValidatingCommandBuffer::begin_custom(const CustomCommand& command) {
  if (!target_) return finished();
  return target_->begin_custom(command);
}

Status ValidatingCommandBuffer::end_custom(const CustomCommand& command) {
  if (!target_) return finished();
  return target_->end_custom(command);
}

Status ValidatingCommandBuffer::extension(std::string_view name, void* out) {
  if (!target_) return finished();
  return target_->extension(name, out);
}

Result<Ref<Recording>> ValidatingCommandBuffer::finish() {
  if (!target_) return finished();
  return std::exchange(target_, nullptr)->finish();
}

}  // namespace baton::hal
