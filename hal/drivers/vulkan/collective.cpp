// collective on Vulkan: a channel has one rank, for which every operation is a copy, but a permute
// that nobody sends to.

#include "hal/commands/collective.hpp"

#include "hal/commands/fill_buffer.hpp"
#include "hal/drivers/vulkan/command_buffer.hpp"

namespace baton::hal::drivers::vulkan {

Status CommandBuffer::collective(const commands::Collective& command) {
  if (command.channel->rank_count() != 1) {
    return failure(StatusCode::kUnimplemented, "Channel '", command.channel->name(), "' has ",
                   command.channel->rank_count(), " ranks; the Vulkan device works with one.");
  }
  const bool nobody = command.operation == CollectiveOperation::kPermute && command.from == kNoRank;
  if (nobody) return fill_buffer({.target = command.target, .pattern_bytes = 1});
  BATON_TRY(
      launch_copy(RecordedBinding::make(command.source), RecordedBinding::make(command.target), command.target.length));
  return note(command);
}

}  // namespace baton::hal::drivers::vulkan
