#include "hal/drivers/null/queue.hpp"

#include "hal/host_function.hpp"

namespace baton::hal::drivers::null {

Status Queue::run_recording(Recording& recording, const BindingTable& table) {
  trace_.execute(static_cast<CommandList&>(recording), table);
  return {};
}

Status Queue::call(HostFunction& function) {
  trace_.host_call(function.name());
  return {};
}

}  // namespace baton::hal::drivers::null
