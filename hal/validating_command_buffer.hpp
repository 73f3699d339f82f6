// ValidatingCommandBuffer: checks each command, then hands it to the driver's. The only place where commands are
// validated.
//
// It holds the driver's command buffer instead of pointing to one: a program makes both in one allocation, and calls
// of the driver are direct or inlined, not virtual. Drivers make theirs with make_commands().
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "hal/commands/all.hpp"
#include "hal/device.hpp"
#include "hal/recording.hpp"

namespace baton::hal {

// What the commands of one recording are checked against, and the wording of refusals.
struct RecordingLaws {
  RecordingLaws(Device& device, const RecordingOptions& options)
      : scope{&device, &device.allocator(), device.limits(), options.slot_count, options.constant_slot_count},
        name(options.name) {}

  Status named(Status status, CommandKind kind) const;
  Status finished() const;

  RecordingScope scope;
  std::string name;
  uint32_t command_count = 0;
};

template <typename Target>
class ValidatingCommandBuffer final : public CommandBuffer {
 public:
  template <typename SomeDevice>
  ValidatingCommandBuffer(SomeDevice& device, const RecordingOptions& options)
      : laws_(device, options), target_(std::in_place, device, options) {}

#define COMMAND(Struct, verb, category)                             \
  Status verb(const commands::Struct& command) override {           \
    return record(command, [&] { return target_->verb(command); }); \
  }
#include "hal/commands/commands.inc"
#undef COMMAND

  Status begin_custom(const CustomCommand& command) override {
    return target_ ? target_->begin_custom(command) : laws_.finished();
  }
  Status end_custom(const CustomCommand& command) override {
    return target_ ? target_->end_custom(command) : laws_.finished();
  }
  Status extension(std::string_view name, void* out) override {
    return target_ ? target_->extension(name, out) : laws_.finished();
  }
  Result<Ref<Recording>> finish() override {
    if (!target_) return laws_.finished();
    auto recording = target_->finish();
    target_.reset();
    return recording;
  }

 private:
  template <typename Command, typename HandOver>
  [[gnu::always_inline]] Status record(const Command& command, HandOver&& hand_over) {
    if (!target_) [[unlikely]]
      return laws_.finished();
    Status status = validate(command, laws_.scope);
    if (status.ok()) [[likely]]
      status = hand_over();
    if (!status.ok()) [[unlikely]]
      return laws_.named(std::move(status), kind_of<Command>);
    ++laws_.command_count;
    return status;
  }

  RecordingLaws laws_;
  std::optional<Target> target_;  // Empty once finished.
};

// What Device::do_make_command_buffer returns.
template <typename Target, typename SomeDevice>
std::unique_ptr<CommandBuffer> make_commands(SomeDevice& device, const RecordingOptions& options) {
  if (!options.validate) return std::make_unique<Target>(device, options);
  return std::make_unique<ValidatingCommandBuffer<Target>>(device, options);
}

}  // namespace baton::hal
