// CommandBuffer: the null driver's column of the command table. Every verb remembers its command, so all of them stand
// here; the file of a verb says how much the command would move (work.hpp). A new driver begins as a copy of this
// folder: it declares the verbs here, and the file of each appends what the device will do.
#pragma once

#include "hal/drivers/common/command_list.hpp"
#include "hal/drivers/common/custom_scope.hpp"

namespace baton::hal::drivers::null {

class CommandBuffer final : public hal::CommandBuffer {
 public:
  CommandBuffer(hal::Device& device, const RecordingOptions& options)
      : recording_(make_ref<CommandList>(device, options)) {}

#define COMMAND(Struct, verb, category) \
  Status verb(const commands::Struct& command) override { return append(command); }
#include "hal/commands/commands.inc"
#undef COMMAND
  // custom_command.cpp
  Status begin_custom(const CustomCommand& command) override;
  Status end_custom(const CustomCommand& command) override;
  Status extension(std::string_view name, void* out) override;
  Result<Ref<Recording>> finish() override { return Ref<Recording>(std::move(recording_)); }

 private:
  template <typename Command>
  Status append(const Command& command) {
    recording_->append(command);
    return {};
  }

  Ref<CommandList> recording_;
  CustomScope custom_;
};

}  // namespace baton::hal::drivers::null
