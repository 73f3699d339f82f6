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
#include "hal/flags.hpp"

namespace baton::hal {

class Recording;

// What a custom command promised when it was registered: BATON_TRAIT_* of modules/sdk/module.h, bit for bit. The first
// four are reserved: drivers split a recording at its host calls, and check each capture themselves.
enum class CommandTraits : uint64_t {
  kNone = 0,
  kPure = 1,
  kCaptureSafe = 2,  // Its work may be captured into a device graph.
  kHostOnly = 4,     // It works on the host.
  kInPlace = 8,
  kNotCaptured = 128,  // Its foreign functions wait for the device or allocate: no graph holds it.
};
constexpr bool enable_flags(CommandTraits) { return true; }

// Host code of a module that records: between begin_custom and end_custom the commands are its own.
struct CustomCommand {
  std::string_view module;
  std::string_view function;
  CommandTraits traits = CommandTraits::kNone;
};

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

  // Stand around everything that a custom command records. What a driver opened for it (a capturing stream, say) is
  // closed and looked at in end_custom, which is called whether the command succeeded or not. They never nest.
  virtual Status begin_custom(const CustomCommand&) { return {}; }
  virtual Status end_custom(const CustomCommand&) { return {}; }
  // What only this driver has, by name ("cuda.stream.v1"), between begin_custom and end_custom. `out` is the struct
  // that the name stands for; it begins with its struct_size. UNIMPLEMENTED for names that the driver doesn't know.
  virtual Status extension(std::string_view name, void* out);

  // Ends the recording; the command buffer takes no more commands.
  virtual Result<Ref<Recording>> finish() = 0;
};

}  // namespace baton::hal
