#include "hal/command_list.hpp"

namespace baton::hal {
namespace {

// One overload per verb: which function of a command buffer records a struct.
#define COMMAND(Struct, verb, category) \
  Status record(CommandBuffer& target, const commands::Struct& command) { return target.verb(command); }
#include "hal/commands/commands.inc"
#undef COMMAND

}  // namespace

Status CommandList::replay(CommandBuffer& target) const {
  Status result;
  for_each([&](uint32_t, const auto& command) {
    if (result.ok()) result = record(target, command);
  });
  return result;
}

}  // namespace baton::hal
