// update_buffer on the null device: writes its target; the source travels in the recording.

#include "hal/drivers/null/command_buffer.hpp"
#include "hal/drivers/null/work.hpp"

namespace baton::hal::drivers::null {

Work work_of(const commands::UpdateBuffer& command, Table) { return {.bytes_written = command.source.size()}; }

}  // namespace baton::hal::drivers::null
