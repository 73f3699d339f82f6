// barrier: what was recorded before it is done, and its writes seen, before anything recorded after it begins.
//
// With a list it promises that only for those ranges; a driver may do more than it is asked for.
#pragma once

#include "hal/commands/checks.hpp"
#include "hal/commands/fields.hpp"

namespace baton::hal::commands {

struct Barrier {
  std::span<const Binding> bindings = {};  // Empty: all memory.

  template <typename Command, typename Visitor>
  static void visit(Command& command, Visitor& visitor) {
    visitor.bindings("bindings", command.bindings, BufferUsage::kNone);
  }
};

Status check_ranges(const Barrier& command, const RecordingScope& scope);
inline Status validate(const Barrier& command, const RecordingScope& scope) {
  return command.bindings.empty() ? Status() : check_ranges(command, scope);
}

}  // namespace baton::hal::commands
