// CommandKind: a row of commands.inc as a number, and its words.
#pragma once

#include <cstdint>
#include <string_view>

namespace baton::hal {

enum class CommandKind : uint8_t {
#define COMMAND(Struct, verb, category) k##Struct,
#include "hal/commands/commands.inc"
#undef COMMAND
};

inline constexpr uint32_t kCommandKindCount = 0
#define COMMAND(Struct, verb, category) +1
#include "hal/commands/commands.inc"
#undef COMMAND
    ;

// "copy_buffer".
constexpr std::string_view command_verb(CommandKind kind) {
  constexpr std::string_view verbs[] = {
#define COMMAND(Struct, verb, category) #verb,
#include "hal/commands/commands.inc"
#undef COMMAND
  };
  return verbs[static_cast<uint32_t>(kind)];
}

namespace commands {
#define COMMAND(Struct, verb, category) struct Struct;
#include "hal/commands/commands.inc"
#undef COMMAND
}  // namespace commands

// kCopyBuffer for CopyBuffer.
template <typename Command>
inline constexpr CommandKind kind_of = CommandKind{};
#define COMMAND(Struct, verb, category) \
  template <>                           \
  inline constexpr CommandKind kind_of<commands::Struct> = CommandKind::k##Struct;
#include "hal/commands/commands.inc"
#undef COMMAND

}  // namespace baton::hal
