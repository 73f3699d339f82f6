// The modules that the tools have in themselves: "hal" when there are devices, the others when a program imports them.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "hal/device.hpp"
#include "hal/ranks.hpp"
#include "vm/module.hpp"

namespace baton::tools {

// What is put before `modules` so that their imports are found. A given module of the same name takes the place of a
// built-in one. `parameters` are what --parameters= said: "scope=file", or "file" for the scope without a name. `ranks`
// are whom programs meet in channels; none: those of the process.
Result<std::vector<Ref<const vm::Module>>> builtin_modules(std::span<const Ref<const vm::Module>> modules,
                                                           std::span<const Ref<hal::Device>> devices,
                                                           std::span<const std::string> parameters = {},
                                                           const std::optional<hal::Ranks>& ranks = std::nullopt);

}  // namespace baton::tools
