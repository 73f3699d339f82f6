// Device of the null driver: host memory that nobody computes on.
#pragma once

#include "hal/device.hpp"
#include "hal/drivers/null/driver.hpp"

namespace baton::hal::drivers::null {

Ref<hal::Device> make_device(TraceOptions options);

}  // namespace baton::hal::drivers::null
