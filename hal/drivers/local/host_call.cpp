// host_call on the host: a call, with the bindings of this execution.

#include "hal/commands/host_call.hpp"

#include "hal/drivers/common/host_turn.hpp"
#include "hal/drivers/local/command_buffer.hpp"

namespace baton::hal::drivers::local {
namespace {

Status run_host_call(const Record& record, const Execution& execution, Worker&, TileRange) {
  const auto& command = static_cast<const FunctionRecord<HostFunction>&>(record);
  std::span<std::byte> bindings[DeviceLimits{}.bindings_max];
  for (size_t i = 0; i < command.bindings.size(); ++i) {
    bindings[i] = {command.bindings[i].data(execution), static_cast<size_t>(command.bindings[i].size(execution))};
  }
  const FilledConstants constants(command, execution);
  const HostTurn turn;
  BATON_TRY_CONTEXT(command.function->call({execution.device, {bindings, command.bindings.size()}, constants.words()}),
                    "in host call '", command.function->name(), "'");
  return {};
}

}  // namespace

Status CommandBuffer::host_call(const commands::HostCall& command) {
  return append_function_call<HostFunction>(command, run_host_call);
}

}  // namespace baton::hal::drivers::local
