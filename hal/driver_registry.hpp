// DriverRegistry: driver name → Driver, and devices from what people write: "local-task", "cuda://0?graph=1".
//
// No global state: the app owns it and adds the drivers that it links (drivers/register_drivers.hpp adds all).
// Threads: externally synchronized while drivers are added, internally afterwards.
#pragma once

#include <memory>
#include <vector>

#include "hal/driver.hpp"

namespace baton::hal {

// What open() takes for a device that its driver lists: "local-sync", "cuda://0", "null".
std::string device_uri(std::string_view driver, const DeviceInfo& device);

class DriverRegistry {
 public:
  Status add(std::unique_ptr<Driver> driver);
  Driver* find(std::string_view name) const;
  std::span<const std::unique_ptr<Driver>> drivers() const { return drivers_; }

  // `uri` is driver[-path | ://path][?key=value&…].
  Result<Ref<Device>> open(std::string_view uri) const;

 private:
  std::vector<std::unique_ptr<Driver>> drivers_;
};

}  // namespace baton::hal
