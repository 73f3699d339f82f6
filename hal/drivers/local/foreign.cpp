// foreign on the host: a call, with the bindings of this execution. There is nothing to enqueue with: extensions are
// refused by name, and what the function does with the bytes it does in the call.

#include "hal/commands/foreign.hpp"

#include <algorithm>

#include "hal/device.hpp"
#include "hal/drivers/local/command_buffer.hpp"

namespace baton::hal::drivers::local {
namespace {

struct ForeignRecord : Record {
  ForeignFunction* function;
  std::span<const uint32_t> constants;
  std::span<const ConstantSlot> constant_slots;
  std::span<const RecordedBinding> bindings;
};

class HostScope final : public ForeignScope {
 public:
  explicit HostScope(Device& device) : device_(device) {}
  Status extension(std::string_view name, void*) override {
    return failure(StatusCode::kUnimplemented, "Device '", device_.name(), "' has no extension '", name, "'.");
  }

 private:
  Device& device_;
};

Status run_foreign(const Record& record, const Execution& execution, Worker&, TileRange) {
  const auto& command = static_cast<const ForeignRecord&>(record);
  ForeignBinding bindings[DeviceLimits{}.bindings_max];
  for (size_t i = 0; i < command.bindings.size(); ++i) {
    const RecordedBinding& binding = command.bindings[i];
    bindings[i] = {binding.address(execution), binding.data(execution), binding.size(execution)};
  }
  uint32_t constants[DeviceLimits{}.constants_max];
  std::copy(command.constants.begin(), command.constants.end(), constants);
  for (const ConstantSlot& slot : command.constant_slots) constants[slot.constant] = execution.constants[slot.slot];
  HostScope scope(execution.device);
  BATON_TRY_CONTEXT(
      command.function->record(
          {execution.device, scope, {bindings, command.bindings.size()}, {constants, command.constants.size()}}),
      "in foreign call '", command.function->name(), "'");
  return {};
}

}  // namespace

Status CommandBuffer::foreign(const commands::Foreign& command) {
  RecordedBinding* bindings = arena().allocate_array<RecordedBinding>(command.bindings.size());
  recording_->runs_host_code_ = true;
  std::transform(command.bindings.begin(), command.bindings.end(), bindings, RecordedBinding::make);
  return append(command,
                *arena().make<ForeignRecord>(Record{run_foreign}, command.function, arena().copy(command.constants),
                                             arena().copy(command.constant_slots),
                                             std::span<const RecordedBinding>(bindings, command.bindings.size())));
}

}  // namespace baton::hal::drivers::local
