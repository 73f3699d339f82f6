// barrier on the null device: moves nothing.

#include "hal/drivers/null/command_buffer.hpp"
#include "hal/drivers/null/work.hpp"

namespace baton::hal::drivers::null {

Work work_of(const commands::Barrier&, Table) { return {}; }

}  // namespace baton::hal::drivers::null
