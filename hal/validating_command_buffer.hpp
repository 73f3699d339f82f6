// ValidatingCommandBuffer: checks each command, then forwards it. The only place where commands are validated.
#pragma once

#include <memory>
#include <string>

#include "hal/command_buffer.hpp"
#include "hal/commands/checks.hpp"

namespace baton::hal {

class ValidatingCommandBuffer final : public CommandBuffer {
 public:
  ValidatingCommandBuffer(std::unique_ptr<CommandBuffer> target, const RecordingScope& scope, std::string_view name)
      : target_(std::move(target)), scope_(scope), name_(name) {}

#define COMMAND(Struct, verb, category) Status verb(const commands::Struct& command) override;
#include "hal/commands/commands.inc"
#undef COMMAND
  Status begin_custom(const CustomCommand& command) override;
  Status end_custom(const CustomCommand& command) override;
  Status extension(std::string_view name, void* out) override;
  Result<Ref<Recording>> finish() override;

 private:
  template <typename Command>
  Status check(const Command& command);
  Status named(Status status, CommandKind kind) const;
  Status finished() const;

  std::unique_ptr<CommandBuffer> target_;  // Null once finished.
  RecordingScope scope_;
  std::string name_;
  uint32_t command_count_ = 0;
};

}  // namespace baton::hal
