// CommandBuffer: the Vulkan driver's column of the command table; one verb per file.
#pragma once

#include "hal/drivers/vulkan/host_arguments.hpp"

namespace baton::hal::drivers::vulkan {

class CommandBuffer final : public hal::CommandBuffer {
 public:
  CommandBuffer(Device& device, const RecordingOptions& options);

#define COMMAND(Struct, verb, category) Status verb(const commands::Struct& command) override;
#include "hal/commands/commands.inc"
#undef COMMAND
  Result<Ref<hal::Recording>> finish() override;

 private:
  Arena& arena() { return recording_->arena_; }
  // Places in the table.
  Result<uint32_t> reserve(uint64_t bytes);
  std::span<const RecordedBinding> copy_bindings(std::span<const Binding> bindings);

  struct LaunchRequest {
    const Pipeline& pipeline;
    std::span<const RecordedBinding> bindings;  // In the arena.
    std::span<const uint32_t> constants = {};
    std::span<const ConstantSlot> constant_slots = {};
    uint32_t grid[3] = {1, 1, 1};
    uint32_t grid_at = Launch::kDirect;
  };
  Status launch(const LaunchRequest& request);
  Status launch_copy(const RecordedBinding& source, const RecordedBinding& target, uint64_t length);
  void add_barrier();
  void add(Record& record);

  // A step of the host: `run` calls the function of `command`.
  template <typename Function, typename Command>
  Status add_function_step(const Command& command, decltype(HostStep::run) run) {
    auto* step = new (arena().allocate_array<FunctionStep<Function>>(1)) FunctionStep<Function>{};
    step->kind = RecordKind::kHostStep;
    step->run = run;
    step->function = command.function;
    step->arguments = {copy_bindings(command.bindings), arena().copy(command.constants),
                       arena().copy(command.constant_slots)};
    add(*step);
    return note(command);
  }

  // Keeps what `command` names, once its records are appended.
  template <typename Command>
  Status note(const Command& command) {
    recording_->note(command);
    return {};
  }

  Device& device_;
  Ref<Recording> recording_;
  Record** end_ = nullptr;
};

}  // namespace baton::hal::drivers::vulkan
