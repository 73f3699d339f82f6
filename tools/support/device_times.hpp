// DeviceTimes: the clocks of devices, turned on while it lives; devices without a clock tell nothing.
#pragma once

#include <span>
#include <vector>

#include "hal/device.hpp"
#include "hal/queue.hpp"

namespace baton::tools {

class DeviceTimes {
 public:
  explicit DeviceTimes(std::span<const Ref<hal::Device>> devices);
  ~DeviceTimes();
  DeviceTimes(const DeviceTimes&) = delete;
  DeviceTimes& operator=(const DeviceTimes&) = delete;

  // The times of all devices together, since the last call.
  hal::ExecutionTimes take();

 private:
  std::vector<Ref<hal::Device>> timed_;
};

}  // namespace baton::tools
