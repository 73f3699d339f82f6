// dispatch: runs an entry point of an executable over a grid of workgroups.
#pragma once

#include "hal/commands/checks.hpp"
#include "hal/commands/fields.hpp"

namespace baton::hal::commands {

struct Dispatch {
  Executable* executable = nullptr;
  uint32_t entry_point = 0;
  uint32_t grid[3] = {1, 1, 1};  // Workgroups in x, y, z. A zero makes it an empty dispatch.
  std::span<const uint32_t> constants = {};
  std::span<const ConstantSlot> constant_slots = {};
  std::span<const Binding> bindings = {};

  template <typename Command, typename Visitor>
  static void visit(Command& command, Visitor& visitor) {
    visitor.object("executable", command.executable);
    visitor.entry_point("entry_point", command.executable, command.entry_point);
    visitor.grid("grid", command.grid);
    visitor.constants("constants", command.constants);
    visitor.constant_slots("constant_slots", command.constant_slots);
    visitor.bindings("bindings", command.bindings, BufferUsage::kDispatch);
  }
};

Status validate_in_words(const Dispatch& command, const RecordingScope& scope);
inline Status validate(const Dispatch& command, const RecordingScope& scope) {
  const auto& most = scope.limits.grid_max;
  const bool grid_fits = command.grid[0] <= most[0] && command.grid[1] <= most[1] && command.grid[2] <= most[2];
  if (grid_fits && is_plain_launch(scope, command)) [[likely]]
    return {};
  return validate_in_words(command, scope);
}

}  // namespace baton::hal::commands
