// What baton-dump-module --explain compares a module with: the devices of this machine, the modules that the tools have
// in themselves, and those that the command line names.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "tools/dump/explain.hpp"
#include "tools/support/devices.hpp"

namespace baton::tools {

// With --device= those devices, whose variants are loaded too; without it one device of each driver that has some.
Result<dump::Surroundings> look_around(const DeviceFlags& devices, const std::vector<std::string>& modules);

}  // namespace baton::tools
