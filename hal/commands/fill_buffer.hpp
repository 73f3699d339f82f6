// fill_buffer: repeats a pattern of 1, 2, 4 or 8 bytes over a range. Offset and length are multiples of the pattern.
#pragma once

#include "hal/commands/checks.hpp"
#include "hal/commands/fields.hpp"

namespace baton::hal::commands {

struct FillBuffer {
  Binding target = {};
  uint64_t pattern = 0;  // The low `pattern_bytes` bytes of it.
  uint32_t pattern_bytes = 4;

  template <typename Command, typename Visitor>
  static void visit(Command& command, Visitor& visitor) {
    visitor.binding("target", command.target, BufferUsage::kTransferTarget);
    visitor.integer("pattern", command.pattern);
    visitor.integer("pattern_bytes", command.pattern_bytes);
  }
};

Status validate(const FillBuffer& command, const RecordingScope& scope);

}  // namespace baton::hal::commands
