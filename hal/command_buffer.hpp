// CommandBuffer: a recording being made; one verb per row of commands.inc.
//
// A verb borrows what its command names. The recording keeps a reference to every buffer, executable and function that
// was recorded until the recording itself is gone. A refused command is not recorded, and the recording goes on.
// Threads: externally synchronized.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/ref.hpp"
#include "base/result.hpp"
#include "hal/commands/command_kind.hpp"

namespace baton::hal {

class Recording;

struct RecordingOptions {
  std::string_view name = "unnamed";  // For messages and traces.
  uint32_t slot_count = 0;            // Binding slots the commands may name.
  uint32_t constant_slot_count = 0;
  // False leaves the validating layer out: for C++ callers that prove their arguments elsewhere, never for programs.
  bool validate = true;
};

class CommandBuffer {
 public:
  virtual ~CommandBuffer() = default;

#define COMMAND(Struct, verb, category) virtual Status verb(const commands::Struct& command) = 0;
#include "hal/commands/commands.inc"
#undef COMMAND

  // Ends the recording; the command buffer takes no more commands.
  virtual Result<Ref<Recording>> finish() = 0;
};

}  // namespace baton::hal
