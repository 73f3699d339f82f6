// update_buffer on Vulkan: the bytes stand in the recording's table, and a kernel copies them from there.

#include "hal/commands/update_buffer.hpp"

#include "hal/drivers/vulkan/command_buffer.hpp"

namespace baton::hal::drivers::vulkan {

Status CommandBuffer::update_buffer(const commands::UpdateBuffer& command) {
  BATON_TRY_ASSIGN(const uint32_t at, reserve(command.source.size()));
  recording_->table_contents_ = arena().make<TableBytes>(recording_->table_contents_, at, arena().copy(command.source));
  BATON_TRY(launch_copy(RecordedBinding::in_table(at, command.source.size()), RecordedBinding::make(command.target),
                        command.source.size()));
  return note(command);
}

}  // namespace baton::hal::drivers::vulkan
