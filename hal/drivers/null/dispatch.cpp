// dispatch on the null device: its grid, and at most all that is bound.

#include "hal/drivers/null/command_buffer.hpp"
#include "hal/drivers/null/work.hpp"

namespace baton::hal::drivers::null {

Work work_of(const commands::Dispatch& command, Table table) {
  Work work = work_of_bindings(command.bindings, table);
  work.workgroups = uint64_t{command.grid[0]} * command.grid[1] * command.grid[2];
  return work;
}

}  // namespace baton::hal::drivers::null
