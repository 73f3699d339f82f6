// barrier on Vulkan: a memory barrier over everything, where work on both sides of it may touch the same (work_order.hpp).

#include "hal/commands/barrier.hpp"

#include "hal/drivers/vulkan/command_buffer.hpp"

namespace baton::hal::drivers::vulkan {

Status CommandBuffer::barrier(const commands::Barrier& command) {
  BATON_TRY(add_barrier());
  return note(command);
}

}  // namespace baton::hal::drivers::vulkan
