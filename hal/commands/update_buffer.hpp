// update_buffer: writes bytes that travel inside the recording. For small things; the device says how small.
#pragma once

#include "hal/commands/checks.hpp"
#include "hal/commands/fields.hpp"

namespace baton::hal::commands {

struct UpdateBuffer {
  std::span<const std::byte> source = {};  // Copied when it is recorded.
  Binding target = {};                     // As long as the source.

  template <typename Command, typename Visitor>
  static void visit(Command& command, Visitor& visitor) {
    visitor.bytes("source", command.source);
    visitor.binding("target", command.target, BufferUsage::kTransferTarget);
  }
};

Status validate(const UpdateBuffer& command, const RecordingScope& scope);

}  // namespace baton::hal::commands
