// What would happen to a module on this machine: which variant of each executable each device takes and why not the
// others; which imports and types a module here provides, which modules could provide the rest.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "bytecode/module_view.hpp"
#include "hal/device.hpp"
#include "vm/module.hpp"

namespace baton::tools::dump {

// A module that may stand before this one when it is linked.
struct Provider {
  Ref<const vm::Module> module;
  std::string origin;  // "blas.so", "the tools, with a --device="
};

struct Surroundings {
  std::vector<Ref<hal::Device>> devices;
  std::vector<std::string> absent;  // Lines about drivers without a device here.
  std::vector<Provider> providers;
  bool load = false;  // Also load the variants that are taken: what that needs is told where it fails.
};

std::string explain(const bytecode::ModuleView& module, const Surroundings& here);

}  // namespace baton::tools::dump
