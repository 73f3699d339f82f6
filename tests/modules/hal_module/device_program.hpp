// A program over the module "hal", for tests: text, linked with a device that knows the kernels of the conformance
// suite (format "static-library", name "kernels").
#pragma once

#include <memory>
#include <string_view>

#include "hal/driver_registry.hpp"
#include "hal/drivers/register_drivers.hpp"
#include "hal/executable_registry.hpp"
#include "modules/hal_module/hal_module.hpp"
#include "modules/hal_module/objects.hpp"
#include "tests/conformance/kernels.h"
#include "tests/modules/linked_program.hpp"
#include "tests/support/status_matchers.hpp"

namespace baton::modules {

inline Ref<hal::Device> open_device(std::string_view uri) {
  hal::drivers::DriverOptions options;
  options.local.libraries.push_back({"kernels", conformance_kernels_query});
  hal::DriverRegistry registry;
  EXPECT_OK(hal::drivers::register_drivers(registry, std::move(options)));
  auto device = registry.open(uri);
  EXPECT_TRUE(device.has_value()) << device.error().to_string();
  return *device;
}

inline std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

// What is registered under "host.kernels".
inline std::shared_ptr<const hal::ExecutableRegistry> registered_kernels() {
  auto registry = std::make_shared<hal::ExecutableRegistry>();
  EXPECT_OK(registry->add("host.kernels", "static-library", bytes_of("kernels")));
  return registry;
}

inline Ref<const vm::Module> hal_module_on(std::initializer_list<Ref<hal::Device>> devices) {
  auto module = make_hal_module({.devices = devices, .executables = registered_kernels()});
  EXPECT_TRUE(module.has_value()) << module.error().to_string();
  return *module;
}

struct DeviceProgram : LinkedProgram {
  DeviceProgram(Ref<hal::Device> on, std::string_view text)
      : LinkedProgram({hal_module_on({on})}, text), device(std::move(on)) {}
  DeviceProgram(std::string_view uri, std::string_view text) : DeviceProgram(open_device(uri), text) {}

  Ref<hal::Device> device;
};

}  // namespace baton::modules
