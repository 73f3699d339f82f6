#include "tools/support/device_times.hpp"

namespace baton::tools {

DeviceTimes::DeviceTimes(std::span<const Ref<hal::Device>> devices) {
  for (const Ref<hal::Device>& device : devices) {
    if (device->queue().time_executions(true).ok()) timed_.push_back(device);
  }
  take();  // What others asked for before.
}

DeviceTimes::~DeviceTimes() {
  for (const Ref<hal::Device>& device : timed_) {
    const Status off = device->queue().time_executions(false);  // What can be on can be off.
  }
}

hal::ExecutionTimes DeviceTimes::take() {
  hal::ExecutionTimes sum;
  for (const Ref<hal::Device>& device : timed_) {
    const hal::ExecutionTimes one = device->queue().take_execution_times();
    sum.executions += one.executions;
    sum.total_ns += one.total_ns;
  }
  return sum;
}

}  // namespace baton::tools
