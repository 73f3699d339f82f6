#include "tools/support/surroundings.hpp"

#include "hal/drivers/register_drivers.hpp"
#include "modules/check_module/check_module.hpp"
#include "modules/hal_module/hal_module.hpp"
#include "modules/parameters_module/parameters_module.hpp"
#include "tools/support/module_source.hpp"
#include "tools/support/static_modules.hpp"

namespace baton::tools {
namespace {

// The first device of each driver but null, which takes everything.
Status open_first_devices(const hal::DriverRegistry& drivers, dump::Surroundings& here) {
  for (const auto& driver : drivers.drivers()) {
    if (driver->name() == "null") continue;
    const auto listed = driver->list();
    if (!listed.has_value() || listed->empty()) {
      here.absent.push_back(text(driver->name(), ": no device here; ",
                                 listed.has_value() ? "none is listed." : listed.error().message()));
      continue;
    }
    BATON_TRY_ASSIGN(Ref<hal::Device> device, drivers.open(hal::device_uri(driver->name(), listed->front())));
    here.devices.push_back(std::move(device));
  }
  for (const hal::drivers::LeftOutDriver& driver : hal::drivers::left_out_drivers()) {
    here.absent.push_back(text(driver.name, ": not in this build; ", driver.reason));
  }
  return {};
}

Status add_builtin_modules(const hal::DriverRegistry& drivers, std::vector<dump::Provider>& providers) {
  // Its exports are the same whatever the device.
  BATON_TRY_ASSIGN(Ref<hal::Device> device, drivers.open("local-sync"));
  BATON_TRY_ASSIGN(auto hal, modules::make_hal_module({.devices = {std::move(device)}}));
  BATON_TRY_ASSIGN(auto check, modules::make_check_module());
  BATON_TRY_ASSIGN(auto parameters, modules::make_parameters_module({}));
  providers.push_back({std::move(hal), "the tools, given a --device="});
  providers.push_back({std::move(check), "the tools"});
  providers.push_back({std::move(parameters), "the tools, which find what --parameters= names"});
  modules::ModuleRegistry linked;
  BATON_TRY(add_static_modules(linked));
  for (const std::string_view name : linked.names()) {
    BATON_TRY_ASSIGN(auto module, linked.make(name));
    providers.push_back({std::move(module), "the tools, into which it is linked"});
  }
  return {};
}

}  // namespace

Result<dump::Surroundings> look_around(const DeviceFlags& flags, const std::vector<std::string>& modules) {
  dump::Surroundings here;
  BATON_TRY_ASSIGN(const hal::DriverRegistry drivers, make_driver_registry(flags));
  BATON_TRY_ASSIGN(here.devices, open_devices(drivers, flags));
  here.load = !here.devices.empty();
  if (here.devices.empty()) BATON_TRY(open_first_devices(drivers, here));
  // A given module takes the place of a built-in one of the same name.
  for (const std::string& source : modules) {
    BATON_TRY_ASSIGN(Ref<const vm::Module> module, load_module(source));
    here.providers.push_back({std::move(module), source});
  }
  BATON_TRY(add_builtin_modules(drivers, here.providers));
  return here;
}

}  // namespace baton::tools
