// collective on the null device: reads its source, writes its target.

#include "hal/drivers/null/command_buffer.hpp"
#include "hal/drivers/null/work.hpp"

namespace baton::hal::drivers::null {

Work work_of(const commands::Collective& command, Table) {
  return {.bytes_read = command.source.length, .bytes_written = command.target.length};
}

}  // namespace baton::hal::drivers::null
