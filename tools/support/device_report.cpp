#include "tools/support/device_report.hpp"

#include <nlohmann/json.hpp>

#include "modules/sdk/version.h"

namespace baton::tools {
namespace {

using Json = nlohmann::ordered_json;

std::string fact_text(const hal::DeviceFact& fact) {
  const int64_t* number = std::get_if<int64_t>(&fact.value);
  if (!number) return std::get<std::string>(fact.value);
  constexpr int64_t kMiB = int64_t{1} << 20;
  const bool large = fact.name.ends_with("_bytes") && *number >= kMiB;
  return large ? text(*number, " (", *number / kMiB, " MiB)") : text(*number);
}

std::string device_lines(std::string_view driver, const hal::DeviceInfo& device) {
  constexpr size_t kNameWidth = 22;
  const std::string uri = hal::device_uri(driver, device);
  std::string lines = text("  --device=", uri, "\n    ", device.description, "\n");
  for (const hal::DeviceFact& fact : device.facts) {
    const size_t padding = fact.name.size() < kNameWidth ? kNameWidth - fact.name.size() : 1;
    lines += text("    ", fact.name, std::string(padding, ' '), fact_text(fact), "\n");
  }
  return lines;
}

std::string headline(const DriverReport& driver) {
  if (!driver.built) return "not in this build";
  if (driver.failure.code() == StatusCode::kUnavailable) return "no device on this machine";
  if (!driver.failure.ok()) return "could not be asked";
  return text(driver.devices.size(), driver.devices.size() == 1 ? " device" : " devices");
}

Json device_json(std::string_view driver, const hal::DeviceInfo& device) {
  Json facts = Json::object();
  for (const hal::DeviceFact& fact : device.facts) {
    std::visit([&](const auto& value) { facts[fact.name] = value; }, fact.value);
  }
  const std::string uri = hal::device_uri(driver, device);
  return {{"device", uri},
          {"flag", text("--device=", uri)},
          {"description", device.description},
          {"facts", std::move(facts)}};
}

}  // namespace

std::vector<DriverReport> ask_drivers(const hal::DriverRegistry& registry,
                                      std::span<const hal::drivers::LeftOutDriver> left_out) {
  std::vector<DriverReport> reports;
  for (const auto& driver : registry.drivers()) {
    DriverReport report{std::string(driver->name()), true, {}, {}};
    auto devices = driver->list();
    if (devices.has_value()) {
      report.devices = *std::move(devices);
    } else {
      report.failure = std::move(devices).error();
    }
    reports.push_back(std::move(report));
  }
  for (const hal::drivers::LeftOutDriver& driver : left_out) {
    reports.push_back({std::string(driver.name), false, {}, failure(StatusCode::kUnimplemented, driver.reason)});
  }
  return reports;
}

std::string devices_text(std::span<const DriverReport> drivers) {
  std::string lines;
  for (const DriverReport& driver : drivers) {
    lines += text(driver.name, ": ", headline(driver), "\n");
    if (!driver.failure.ok()) lines += text("  ", driver.failure.message(), "\n");
    for (const hal::DeviceInfo& device : driver.devices) lines += device_lines(driver.name, device);
  }
  return lines;
}

std::string devices_json(std::span<const DriverReport> drivers) {
  Json list = Json::array();
  for (const DriverReport& driver : drivers) {
    Json devices = Json::array();
    for (const hal::DeviceInfo& device : driver.devices) devices.push_back(device_json(driver.name, device));
    Json one = {{"driver", driver.name}, {"built", driver.built}, {"devices", std::move(devices)}};
    if (!driver.failure.ok()) one["reason"] = driver.failure.message();
    list.push_back(std::move(one));
  }
  const Json report = {{"version", BATON_VERSION}, {"drivers", std::move(list)}};
  return report.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace baton::tools
