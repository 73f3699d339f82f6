// fill_buffer on the null device: writes its target.

#include "hal/drivers/null/command_buffer.hpp"
#include "hal/drivers/null/work.hpp"

namespace baton::hal::drivers::null {

Work work_of(const commands::FillBuffer& command, Table) { return {.bytes_written = command.target.length}; }

}  // namespace baton::hal::drivers::null
