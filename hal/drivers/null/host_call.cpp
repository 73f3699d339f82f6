// host_call on the null device: is not called; at most all that is bound.

#include "hal/drivers/null/command_buffer.hpp"
#include "hal/drivers/null/work.hpp"

namespace baton::hal::drivers::null {

Work work_of(const commands::HostCall& command, Table table) { return work_of_bindings(command.bindings, table); }

}  // namespace baton::hal::drivers::null
