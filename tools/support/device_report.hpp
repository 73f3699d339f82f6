// What baton-devices says: every driver of this build with its devices, and the drivers that are not in it, with the
// reason. As text each device has a --device= line to copy; as JSON the same facts for programs.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "hal/driver_registry.hpp"
#include "hal/drivers/register_drivers.hpp"

namespace baton::tools {

struct DriverReport {
  std::string name;
  bool built = true;
  std::vector<hal::DeviceInfo> devices;
  Status failure;  // Why there are no devices: UNAVAILABLE where this machine has none, else what went wrong.
};

// Asks every driver; one that fails does not keep the others from being told.
std::vector<DriverReport> ask_drivers(const hal::DriverRegistry& registry,
                                      std::span<const hal::drivers::LeftOutDriver> left_out);

std::string devices_text(std::span<const DriverReport> drivers);
std::string devices_json(std::span<const DriverReport> drivers);

}  // namespace baton::tools
