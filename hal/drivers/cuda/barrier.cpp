// barrier on CUDA: on a stream all is in order anyway; in a graph what follows hangs behind all before it.

#include "hal/commands/barrier.hpp"

#include "hal/drivers/cuda/command_buffer.hpp"

namespace baton::hal::drivers::cuda {

Status CommandBuffer::barrier(const commands::Barrier& command) {
  if (session_) BATON_TRY(close_segment());
  barrier_ = true;
  return leave_out(command);
}

}  // namespace baton::hal::drivers::cuda
