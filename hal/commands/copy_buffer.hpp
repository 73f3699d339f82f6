// copy_buffer: copies bytes from one range to another of the same length. The ranges do not overlap.
#pragma once

#include "hal/commands/checks.hpp"
#include "hal/commands/fields.hpp"

namespace baton::hal::commands {

struct CopyBuffer {
  Binding source = {};
  Binding target = {};

  template <typename Command, typename Visitor>
  static void visit(Command& command, Visitor& visitor) {
    visitor.binding("source", command.source, BufferUsage::kTransferSource);
    visitor.binding("target", command.target, BufferUsage::kTransferTarget);
  }
};

Status validate(const CopyBuffer& command, const RecordingScope& scope);

}  // namespace baton::hal::commands
