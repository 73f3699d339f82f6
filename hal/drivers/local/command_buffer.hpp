// CommandBuffer: the local driver's column of the command table; one verb per file.
#pragma once

#include "hal/drivers/local/recording.hpp"

namespace baton::hal::drivers::local {

class CommandBuffer final : public hal::CommandBuffer {
 public:
  CommandBuffer(Device& device, const RecordingOptions& options) : recording_(make_ref<Recording>(device, options)) {}

#define COMMAND(Struct, verb, category) Status verb(const commands::Struct& command) override;
#include "hal/commands/commands.inc"
#undef COMMAND
  Result<Ref<hal::Recording>> finish() override;

 private:
  Arena& arena() { return recording_->arena_; }

  // Appends `record`, which lives in the arena, and keeps what `command` names.
  template <typename Command>
  Status append(const Command& command, Record& record) {
    recording_->note(command);
    add(record);
    return {};
  }
  void add(Record& record);
  void end_phase();

  Ref<Recording> recording_;
  Record** end_ = &recording_->first_;
  Phase** phase_end_ = &recording_->first_phase_;
  Record* phase_first_ = nullptr;
  size_t phase_size_ = 0;
};

}  // namespace baton::hal::drivers::local
