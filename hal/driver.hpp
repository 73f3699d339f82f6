// Driver: a kind of device; lists what is there and opens it.
//
// Threads: internally synchronized.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hal/device.hpp"

namespace baton::hal {

struct DeviceInfo {
  std::string path;         // What open() takes: "sync", "0".
  std::string description;  // For people.
};

using DeviceParameter = std::pair<std::string_view, std::string_view>;

class Driver {
 public:
  virtual ~Driver() = default;

  virtual std::string_view name() const = 0;
  virtual Result<std::vector<DeviceInfo>> list() = 0;
  // An empty path is the default device.
  virtual Result<Ref<Device>> open(std::string_view path, std::span<const DeviceParameter> parameters) = 0;
};

}  // namespace baton::hal
