// The row that tells how long the device was at work, beside the row of the host: registered with Google Benchmark as
// "<name>.on_device", timed by the device's clock. So repetitions, JSON and comparisons have it like any other.
//
// It is a row of its own because the clock costs the host a little: the host's row stays what it is without.
#pragma once

#include <span>
#include <string>

#include "hal/device.hpp"

namespace benchmark {
class State;
}

namespace baton::tools {

// What to measure, and what it is measured with; prepared once for each repetition.
class DeviceWork {
 public:
  virtual ~DeviceWork() = default;
  // Until it is done; warm after the first.
  virtual Status run() = 0;
};

// Counters: executions of recordings in an iteration, and how long one took the host, the clock included.
void measure_on_device(benchmark::State& state, std::span<const Ref<hal::Device>> devices, DeviceWork& work);

// How many iterations tell enough and take no more than a moment; 0: no device with a clock has anything to do. Runs
// the work twice.
int64_t device_iterations(std::span<const Ref<hal::Device>> devices, DeviceWork& work);

}  // namespace baton::tools
