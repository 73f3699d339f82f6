// dispatch_indirect on the null device: reads its grid; how many workgroups that means is never known here.

#include "hal/drivers/null/command_buffer.hpp"
#include "hal/drivers/null/work.hpp"

namespace baton::hal::drivers::null {

Work work_of(const commands::DispatchIndirect& command, Table table) {
  Work work = work_of_bindings(command.bindings, table);
  work.bytes_read += command.grid.length;
  work.bounded = false;
  return work;
}

}  // namespace baton::hal::drivers::null
