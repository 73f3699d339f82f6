// How an app opens its devices: what it gives to the drivers, kernels that programs ask for by name, a timeline.
// Threads: externally synchronized.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "hal/drivers/register_drivers.hpp"
#include "hal/executable_registry.hpp"
#include "modules/sdk/embed_device.h"

namespace baton {
class Timeline;
}

namespace baton::modules {

struct DeviceOpening {
  hal::drivers::DriverOptions drivers = {};
  std::vector<std::string> executable_plugins = {};  // "plugin.so?key=value"
  std::shared_ptr<const hal::ExecutableRegistry> executables = nullptr;
  Timeline* timeline = nullptr;  // Where the devices tell what they do; outlives them.
};

// In the order of `uris`. Plugins are loaded once, and asked before what `drivers` brings.
Result<std::vector<Ref<hal::Device>>> open_devices(const std::vector<std::string>& uris, DeviceOpening opening);

// What C says, for the device `uri`, which may not take all of it.
Result<DeviceOpening> read_device_options(std::string_view uri, const baton_device_options& options);

}  // namespace baton::modules
