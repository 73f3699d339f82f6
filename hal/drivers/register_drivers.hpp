// All drivers that this build has, for tools and apps that want them all.
#pragma once

#include "hal/driver_registry.hpp"
#include "hal/drivers/local/driver.hpp"
#include "hal/drivers/null/driver.hpp"

namespace baton::hal::drivers {

struct DriverOptions {
  local::Options local;
  null::TraceOptions null;
};

// Adds local and null, and the drivers for devices that were found when Baton was built.
Status register_drivers(DriverRegistry& registry, DriverOptions options = {});

}  // namespace baton::hal::drivers
