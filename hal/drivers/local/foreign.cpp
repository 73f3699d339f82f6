// foreign on the host: a call, with the bindings of this execution. There is nothing to enqueue with: extensions are
// refused by name, and what the function does with the bytes it does in the call.

#include "hal/commands/foreign.hpp"

#include "hal/device.hpp"
#include "hal/drivers/common/host_turn.hpp"
#include "hal/drivers/local/command_buffer.hpp"

namespace baton::hal::drivers::local {
namespace {

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
  const auto& command = static_cast<const FunctionRecord<ForeignFunction>&>(record);
  ForeignBinding bindings[DeviceLimits{}.bindings_max];
  for (size_t i = 0; i < command.bindings.size(); ++i) {
    const RecordedBinding& binding = command.bindings[i];
    bindings[i] = {binding.address(execution), binding.data(execution), binding.size(execution)};
  }
  const FilledConstants constants(command, execution);
  HostScope scope(execution.device);
  const HostTurn turn;
  BATON_TRY_CONTEXT(
      command.function->record({execution.device, scope, {bindings, command.bindings.size()}, constants.words()}),
      "in foreign call '", command.function->name(), "'");
  return {};
}

}  // namespace

Status CommandBuffer::foreign(const commands::Foreign& command) {
  return append_function_call<ForeignFunction>(command, run_foreign);
}

}  // namespace baton::hal::drivers::local
