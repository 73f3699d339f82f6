// host_call: runs a function of the host in order with the commands around it.
#pragma once

#include "hal/commands/checks.hpp"
#include "hal/commands/fields.hpp"
#include "hal/host_function.hpp"

namespace baton::hal::commands {

struct HostCall {
  HostFunction* function = nullptr;
  std::span<const uint32_t> constants = {};
  std::span<const ConstantSlot> constant_slots = {};
  std::span<const Binding> bindings = {};

  template <typename Command, typename Visitor>
  static void visit(Command& command, Visitor& visitor) {
    visitor.object("function", command.function);
    visitor.constants("constants", command.constants);
    visitor.constant_slots("constant_slots", command.constant_slots);
    visitor.bindings("bindings", command.bindings, BufferUsage::kDispatch);
  }
};

Status validate(const HostCall& command, const RecordingScope& scope);

}  // namespace baton::hal::commands
