// dispatch_indirect: a dispatch whose grid is read from a buffer when it runs: three u32, workgroups in x, y, z.
#pragma once

#include "hal/commands/checks.hpp"
#include "hal/commands/fields.hpp"

namespace baton::hal::commands {

struct DispatchIndirect {
  Executable* executable = nullptr;
  uint32_t entry_point = 0;
  Binding grid = {};  // Twelve bytes, aligned to four.
  std::span<const uint32_t> constants = {};
  std::span<const ConstantSlot> constant_slots = {};
  std::span<const Binding> bindings = {};

  template <typename Command, typename Visitor>
  static void visit(Command& command, Visitor& visitor) {
    visitor.object("executable", command.executable);
    visitor.entry_point("entry_point", command.executable, command.entry_point);
    visitor.binding("grid", command.grid, BufferUsage::kIndirectGrid);
    visitor.constants("constants", command.constants);
    visitor.constant_slots("constant_slots", command.constant_slots);
    visitor.bindings("bindings", command.bindings, BufferUsage::kDispatch);
  }
};

inline constexpr uint64_t kIndirectGridBytes = 3 * sizeof(uint32_t);

Status validate(const DispatchIndirect& command, const RecordingScope& scope);

}  // namespace baton::hal::commands
