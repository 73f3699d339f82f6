// barrier on the host: the end of a phase. Ranges are not looked at: all memory is ordered.

#include "hal/commands/barrier.hpp"

#include "hal/drivers/local/command_buffer.hpp"

namespace baton::hal::drivers::local {

Status CommandBuffer::barrier(const commands::Barrier& command) {
  recording_->note(command);
  end_phase();
  return {};
}

}  // namespace baton::hal::drivers::local
