// barrier on Vulkan: a memory barrier over everything, where work stands on both sides of it.

#include "hal/commands/barrier.hpp"

#include "hal/drivers/vulkan/command_buffer.hpp"

namespace baton::hal::drivers::vulkan {

Status CommandBuffer::barrier(const commands::Barrier& command) {
  BATON_TRY(add_barrier());
  return note(command);
}

}  // namespace baton::hal::drivers::vulkan
