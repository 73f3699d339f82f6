// The devices that a tool's command line names: --device=, --device_trace=, --executable_plugin=, --executable=, and
// the lists of what there is.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "hal/driver_registry.hpp"

namespace baton {
class Timeline;
}
namespace baton::hal {
class StepListener;
}
namespace baton::hal::drivers::local {
class DispatchTimes;
}

namespace baton::tools {

namespace flags {
class CommandLine;
}

struct DeviceFlags {
  std::vector<std::string> devices;             // "local-task?workers=4"
  std::string trace;                            // A path, or - for standard output.
  std::vector<std::string> executable_plugins;  // path[?key=value&...]
  std::vector<std::string> executables;         // name=path
  // For all CUDA devices of the command line; empty: as each device's URI says.
  std::string cuda_mode;
  bool cuda_graph_report = false;
  bool no_native_code = false;     // Refuses native code in the files that run; see the local driver's native_code=.
  bool no_crash_names = false;     // A kernel that ends the process is not named.
  bool vulkan_validation = false;  // Of all devices of Vulkan that are given.
  std::string vulkan_cache;        // Of the same: a folder; empty: none.
  // From tools that measure: where devices of the local driver tell how long kernels ran.
  std::shared_ptr<hal::drivers::local::DispatchTimes> dispatch_times = nullptr;
  Timeline* timeline = nullptr;    // Where devices tell what they do; null: nowhere.
  bool listens_to_drivers = true;  // What drivers know of when commands ran goes there, too.
  std::shared_ptr<hal::StepListener> step_listener = nullptr;  // Not null: devices run command by command, and tell it.
  bool list_drivers = false;
  bool list_devices = false;
  bool dump_devices = false;
};

void add_device_flags(flags::CommandLine& line, DeviceFlags& flags);
void add_no_native_code(flags::CommandLine& line, DeviceFlags& flags);  // One of those.

// All drivers of this build, with what the flags give to them.
Result<hal::DriverRegistry> make_driver_registry(const DeviceFlags& flags);
Result<std::vector<Ref<hal::Device>>> open_devices(const hal::DriverRegistry& registry, const DeviceFlags& flags);

// Prints the lists that are asked for; false when none is.
Result<bool> print_device_lists(const hal::DriverRegistry& registry, const DeviceFlags& flags);

}  // namespace baton::tools
