// host_call on the host: a call, with the bindings of this execution.

#include "hal/commands/host_call.hpp"

#include <algorithm>

#include "hal/device_limits.hpp"
#include "hal/drivers/local/command_buffer.hpp"

namespace baton::hal::drivers::local {
namespace {

struct HostCallRecord : Record {
  HostFunction* function;
  std::span<const uint32_t> constants;
  std::span<const ConstantSlot> constant_slots;
  std::span<const RecordedBinding> bindings;
};

Status run_host_call(const Record& record, const Execution& execution, Worker&, TileRange) {
  const auto& command = static_cast<const HostCallRecord&>(record);
  std::span<std::byte> bindings[DeviceLimits{}.bindings_max];
  for (size_t i = 0; i < command.bindings.size(); ++i) {
    bindings[i] = {command.bindings[i].data(execution), static_cast<size_t>(command.bindings[i].size(execution))};
  }
  uint32_t constants[DeviceLimits{}.constants_max];
  std::copy(command.constants.begin(), command.constants.end(), constants);
  for (const ConstantSlot& slot : command.constant_slots) constants[slot.constant] = execution.constants[slot.slot];
  BATON_TRY_CONTEXT(command.function->call(
                        {execution.device, {bindings, command.bindings.size()}, {constants, command.constants.size()}}),
                    "in host call '", command.function->name(), "'");
  return {};
}

}  // namespace

Status CommandBuffer::host_call(const commands::HostCall& command) {
  RecordedBinding* bindings = arena().allocate_array<RecordedBinding>(command.bindings.size());
  recording_->runs_host_code_ = true;
  std::transform(command.bindings.begin(), command.bindings.end(), bindings, RecordedBinding::make);
  return append(command,
                *arena().make<HostCallRecord>(Record{run_host_call}, command.function, arena().copy(command.constants),
                                              arena().copy(command.constant_slots),
                                              std::span<const RecordedBinding>(bindings, command.bindings.size())));
}

}  // namespace baton::hal::drivers::local
