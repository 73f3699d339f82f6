// The module "hal": devices, memory, recordings and fences as imports of a program. README.md lists the imports.
//
// The host says which devices a program sees, in which order, and which executables it may ask for by name.
// Threads: immutable; its functions may be called from several contexts at once.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "hal/device.hpp"
#include "hal/ranks.hpp"
#include "vm/module.hpp"

namespace baton::hal {
class ExecutableRegistry;
}

namespace baton::modules {

struct HalModuleOptions {
  std::vector<Ref<hal::Device>> devices;
  std::shared_ptr<const hal::ExecutableRegistry> executables = nullptr;  // Null: what each device has.
  std::optional<hal::Ranks> ranks = std::nullopt;  // Who programs meet in channels; none: those of the process.
};

Result<Ref<const vm::Module>> make_hal_module(HalModuleOptions options);

}  // namespace baton::modules
