// Driver: a kind of device; lists what is there and opens it.
//
// Threads: internally synchronized.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "hal/device.hpp"
#include "hal/kernel_code.hpp"

namespace baton::hal {

// Something worth knowing of a device before it is opened: "memory_bytes" = 85899345920, "architecture" = "sm_90".
struct DeviceFact {
  std::string name;
  std::variant<int64_t, std::string> value;
};

struct DeviceInfo {
  std::string path;         // What open() takes: "sync", "0".
  std::string description;  // For people.
  std::vector<DeviceFact> facts = {};
};

using DeviceParameter = std::pair<std::string_view, std::string_view>;

class Driver {
 public:
  virtual ~Driver() = default;

  virtual std::string_view name() const = 0;
  virtual Result<std::vector<DeviceInfo>> list() = 0;
  // An empty path is the default device.
  virtual Result<Ref<Device>> open(std::string_view path, std::span<const DeviceParameter> parameters) = 0;
  // Code to launch without a device of the HAL. UNIMPLEMENTED where there are no streams to launch it on.
  virtual Result<Ref<KernelCode>> load_kernels(const KernelCodeRequest& request) {
    return failure(StatusCode::kUnimplemented, "Driver '", name(), "' launches no kernels (of '", request.name,
                   "') on streams; a device's queue does.");
  }
};

}  // namespace baton::hal
