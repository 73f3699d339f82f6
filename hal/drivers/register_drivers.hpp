// All drivers that this build has, for tools and apps that want them all.
#pragma once

#include "hal/driver_registry.hpp"
#include "hal/drivers/cuda/driver.hpp"
#include "hal/drivers/local/driver.hpp"
#include "hal/drivers/null/driver.hpp"
#include "hal/drivers/vulkan/driver.hpp"

namespace baton::hal::drivers {

// The same in every build, so that an app needs no macro of the build that it links; what was left out takes no notice.
struct DriverOptions {
  local::Options local;
  null::TraceOptions null;
  cuda::Options cuda;
  vulkan::Options vulkan;
};

// A driver that this build does not have, and the sentence that says why.
struct LeftOutDriver {
  std::string_view name;
  std::string_view reason;
};
std::span<const LeftOutDriver> left_out_drivers();

// Adds local and null, and the drivers for devices that were found when Baton was built.
Status register_drivers(DriverRegistry& registry, DriverOptions options = {});

}  // namespace baton::hal::drivers
