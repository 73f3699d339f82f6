// collective on CUDA: a channel has one rank, for which every operation is a copy.

#include "hal/commands/collective.hpp"

#include "hal/commands/copy_buffer.hpp"
#include "hal/drivers/cuda/command_buffer.hpp"

namespace baton::hal::drivers::cuda {

Status CommandBuffer::collective(const commands::Collective& command) {
  if (command.channel->rank_count() != 1) {
    return failure(StatusCode::kUnimplemented, "Channel '", command.channel->name(), "' has ",
                   command.channel->rank_count(), " ranks; the CUDA device works with one.");
  }
  return copy_buffer({.source = command.source, .target = command.target});
}

}  // namespace baton::hal::drivers::cuda
