#include "hal/driver_registry.hpp"

namespace baton::hal {
namespace {

struct DeviceUri {
  std::string_view driver;
  std::string_view path;
  std::vector<DeviceParameter> parameters;
};

// The part before `separator`; `rest` becomes what follows it, empty when there is none.
std::string_view split_at(std::string_view separator, std::string_view& rest) {
  const size_t at = rest.find(separator);
  const std::string_view head = rest.substr(0, at);
  rest = at == std::string_view::npos ? std::string_view() : rest.substr(at + separator.size());
  return head;
}

DeviceUri parse_uri(std::string_view text) {
  DeviceUri uri;
  std::string_view parameters = text;
  std::string_view device = split_at("?", parameters);
  const std::string_view separator = device.find("://") != std::string_view::npos ? "://" : "-";
  uri.driver = split_at(separator, device);
  uri.path = device;
  while (!parameters.empty()) {
    std::string_view value = split_at("&", parameters);
    const std::string_view key = split_at("=", value);
    uri.parameters.emplace_back(key, value);
  }
  return uri;
}

}  // namespace

std::string device_uri(std::string_view driver, const DeviceInfo& device) {
  if (device.path.empty()) return std::string(driver);
  const bool counted = device.path.find_first_not_of("0123456789") == std::string::npos;
  return text(driver, counted ? "://" : "-", device.path);
}

Status DriverRegistry::add(std::unique_ptr<Driver> driver) {
  if (find(driver->name())) {
    return failure(StatusCode::kAlreadyExists, "Driver '", driver->name(), "' is registered twice.");
  }
  drivers_.push_back(std::move(driver));
  return {};
}

Driver* DriverRegistry::find(std::string_view name) const {
  for (const auto& driver : drivers_) {
    if (driver->name() == name) return driver.get();
  }
  return nullptr;
}

Result<Ref<Device>> DriverRegistry::open(std::string_view uri) const {
  const DeviceUri parsed = parse_uri(uri);
  if (Driver* driver = find(parsed.driver)) return driver->open(parsed.path, parsed.parameters);
  std::string known;
  for (const auto& driver : drivers_) known += text(known.empty() ? "" : ", ", driver->name());
  return failure(StatusCode::kNotFound, "Device '", uri, "' names driver '", parsed.driver,
                 "'; registered are: ", known, ".");
}

}  // namespace baton::hal
