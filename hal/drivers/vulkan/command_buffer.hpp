// CommandBuffer: the Vulkan driver's column of the command table; one verb per file.
#pragma once

#include <string>

#include "hal/drivers/common/custom_scope.hpp"
#include "hal/drivers/vulkan/recording.hpp"
#include "hal/drivers/vulkan/segment.hpp"

namespace baton::hal::drivers::vulkan {

class CommandBuffer final : public hal::CommandBuffer {
 public:
  CommandBuffer(Device& device, const RecordingOptions& options);

#define COMMAND(Struct, verb, category) Status verb(const commands::Struct& command) override;
#include "hal/commands/commands.inc"
#undef COMMAND
  Status begin_custom(const CustomCommand& command) override;
  Status end_custom(const CustomCommand& command) override;
  Status extension(std::string_view name, void* out) override;
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
    const Executable* executable = nullptr;  // Null: one of the driver's own kernels.
    uint32_t entry_point = 0;
  };
  Status launch(const LaunchRequest& request);
  Status shape_grid(Launch& launch, const LaunchRequest& request) const;
  Status launch_copy(const RecordedBinding& source, const RecordedBinding& target, uint64_t length);
  Status add_barrier();
  // Ends the open segment first, if there is one.
  Status add(Record& record);
  void append(Record& record);
  Status close_segment();

  // Of a host call or a foreign call.
  template <typename Command>
  HostStepArguments copy_arguments(const Command& command) {
    return {copy_bindings(command.bindings), arena().copy(command.constants), arena().copy(command.constant_slots)};
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
  CustomScope custom_;
  std::unique_ptr<Segment> segment_;          // What it records itself, up to the next command,
  const WorkLabel* segment_label_ = nullptr;  // and how observers call that.
};

}  // namespace baton::hal::drivers::vulkan
