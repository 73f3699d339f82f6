// copy_buffer on Vulkan: a kernel that copies between two addresses, so that a slot costs two stores; between fixed buffers
// Vulkan's own copy (PreparedCommands::encode_copy).

#include "hal/commands/copy_buffer.hpp"

#include "hal/drivers/vulkan/command_buffer.hpp"

namespace baton::hal::drivers::vulkan {

Status CommandBuffer::copy_buffer(const commands::CopyBuffer& command) {
  BATON_TRY(
      launch_copy(RecordedBinding::make(command.source), RecordedBinding::make(command.target), command.target.length));
  return note(command);
}

}  // namespace baton::hal::drivers::vulkan
