// CommandBuffer: the local driver's column of the command table; one verb per file.
#pragma once

#include "hal/drivers/local/function_record.hpp"
#include "hal/drivers/local/heard_record.hpp"

namespace baton::hal::drivers::local {

struct Launch;

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
    const WorkLabel* label = work_label();
    add(label ? hear(arena(), record, *label) : record);
    return {};
  }
  // A call of the function of `command` by `run`.
  template <typename Function, typename Command>
  Status append_function_call(const Command& command, Record::Run run) {
    recording_->runs_host_code_ = true;
    auto* record = arena().make<FunctionRecord<Function>>(
        Record{run}, command.function, arena().copy(command.constants), arena().copy(command.constant_slots),
        record_bindings(arena(), command.bindings));
    return append(command, *record);
  }
  // Where in the program a launch was recorded, for messages about crashes.
  void note_place(Launch& launch);
  void add(Record& record);
  void end_phase();

  Ref<Recording> recording_;
  Record** end_ = &recording_->first_;
  Phase** phase_end_ = &recording_->first_phase_;
  Record* phase_first_ = nullptr;
  size_t phase_size_ = 0;
};

}  // namespace baton::hal::drivers::local
