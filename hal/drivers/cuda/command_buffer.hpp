// CommandBuffer: the CUDA driver's column of the command table; one verb per file.
#pragma once

#include <optional>

#include "hal/commands/all.hpp"
#include "hal/drivers/common/custom_scope.hpp"
#include "hal/drivers/cuda/access_watch.hpp"
#include "hal/drivers/cuda/capture.hpp"
#include "hal/drivers/cuda/foreign_extensions.hpp"
#include "hal/drivers/cuda/launch.hpp"
#include "hal/drivers/cuda/recording.hpp"
#include "hal/work_label.hpp"

namespace baton::hal::drivers::cuda {

class CommandBuffer final : public hal::CommandBuffer {
 public:
  CommandBuffer(hal::Device& device, const RecordingOptions& options)
      : recording_(make_ref<Recording>(device, options)) {}

#define COMMAND(Struct, verb, category) Status verb(const commands::Struct& command) override;
#include "hal/commands/commands.inc"
#undef COMMAND
  // custom_command.cpp
  Status begin_custom(const CustomCommand& command) override;
  Status end_custom(const CustomCommand& command) override;
  Status extension(std::string_view name, void* out) override;
  Result<Ref<hal::Recording>> finish() override;

 private:
  Arena& arena() { return recording_->arena_; }

  // Appends `record`, which lives in the arena, and keeps what `command` names.
  template <typename Command>
  Status append(const Command& command, Record& record, const RecordVerbs& verbs) {
    if (session_) BATON_TRY(close_segment());
    record.verbs = &verbs;
    record.label = work_label();
    record.command = recording_->command_count();
    record.begins_phase = std::exchange(barrier_, false);
    *end_ = &record;
    end_ = &record.next;
    if constexpr (requires { command.constant_slots; }) {
      for (const ConstantSlot& slot : command.constant_slots) {
        recording_->constant_uses_.push_back({slot.slot, record.command});
      }
    }
    recording_->note(command);
    return {};
  }
  // A command that gives the device nothing to do is counted and keeps what it names.
  template <typename Command>
  Status leave_out(const Command& command) {
    recording_->note(command);
    return {};
  }
  std::span<const RecordedBinding> copy_bindings(std::span<const Binding> bindings);
  // Gives a kernel that checks its accesses where to write what fails.
  Status watch_accesses(const Launch& launch, const LaunchShape& shape);
  Status close_segment();
  void note_kernel(const std::string& name) {
    if (&name != last_kernel_) note_new_kernel(*(last_kernel_ = &name));
  }
  void note_new_kernel(const std::string& name);
  void note_obstacle(std::string_view obstacle) { recording_->graph_obstacle_ = obstacle; }

  Ref<Recording> recording_;
  Record** end_ = &recording_->first_;
  bool barrier_ = false;
  const std::string* last_kernel_ = nullptr;
  Ref<AccessWatch> access_watch_;  // Null: no kernel checks its accesses.

  // Of the custom command that records now.
  CustomScope custom_;
  std::optional<CaptureSession> session_;
  std::optional<ContextScope> custom_context_;
};

}  // namespace baton::hal::drivers::cuda
