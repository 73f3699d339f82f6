#include "tools/support/builtin_modules.hpp"

#include <string_view>

#include "modules/check_module/check_module.hpp"
#include "modules/collective_module/collective_module.hpp"
#include "modules/hal_module/hal_module.hpp"
#include "modules/parameters_module/parameters_module.hpp"
#include "modules/sdk/kernel_library.h"
#include "tools/support/static_modules.hpp"
#include "vm/bytecode_module.hpp"

namespace baton::tools {
namespace {

// Plugins find kernels through the table of devices, which refers to them weakly.
[[gnu::used]] const baton_kernel_table* (*const kKernels)() = baton_kernel_functions;

using Modules = std::span<const Ref<const vm::Module>>;

bool is_given(Modules modules, std::string_view name) {
  for (const auto& module : modules) {
    if (module->name() == name) return true;
  }
  return false;
}

// A module that imports from `name`; without `wants_optional` only one that needs it. Null when there is none.
const vm::Module* importer_of(Modules modules, std::string_view name, bool wants_optional = false) {
  for (const auto& module : modules) {
    const vm::BytecodeModule* bytecode = module->as_bytecode();
    if (!bytecode) continue;
    for (uint32_t i = 0; i < bytecode->view().import_count(); ++i) {
      const bytecode::ImportView import = bytecode->view().import(i);
      if (import.module_name() == name && (!import.optional || wants_optional)) return module.get();
    }
  }
  return nullptr;
}

// A module whose reference types come from "hal"; they are of no use without a device.
Status check_types(Modules modules) {
  for (const auto& module : modules) {
    const vm::BytecodeModule* bytecode = module->as_bytecode();
    for (uint32_t i = 0; bytecode && i < bytecode->view().type_count(); ++i) {
      const std::string_view type = bytecode->view().type(i);
      if (!type.starts_with("hal.")) continue;
      return failure(StatusCode::kInvalidArgument, "module '", module->name(), "' uses '", type,
                     "', and no --device= was given");
    }
  }
  return {};
}

modules::ParameterSource parse_parameter_source(std::string_view text) {
  const size_t equals = text.find('=');
  if (equals == text.npos) return {"", std::string(text)};
  return {std::string(text.substr(0, equals)), std::string(text.substr(equals + 1))};
}

}  // namespace

Result<std::vector<Ref<const vm::Module>>> builtin_modules(Modules modules, std::span<const Ref<hal::Device>> devices,
                                                           std::span<const std::string> parameters,
                                                           const std::optional<hal::Ranks>& ranks) {
  std::vector<Ref<const vm::Module>> made;
  if (!is_given(modules, "hal")) {
    const vm::Module* importer = importer_of(modules, "hal");
    if (importer && devices.empty()) {
      return failure(StatusCode::kInvalidArgument, "module '", importer->name(),
                     "' imports from 'hal', and no --device= was given");
    }
    if (devices.empty()) {
      BATON_TRY(check_types(modules));
    } else {
      BATON_TRY_ASSIGN(auto hal,
                       modules::make_hal_module({.devices = {devices.begin(), devices.end()}, .ranks = ranks}));
      made.push_back(std::move(hal));
    }
  }
  if (!is_given(modules, "check") && importer_of(modules, "check", true)) {
    BATON_TRY_ASSIGN(auto check, modules::make_check_module());
    made.push_back(std::move(check));
  }
  if (!is_given(modules, "collective") && importer_of(modules, "collective", true)) {
    BATON_TRY_ASSIGN(const hal::Ranks all, ranks ? Result<hal::Ranks>(*ranks) : hal::ranks_of_process());
    BATON_TRY_ASSIGN(auto collective, modules::make_collective_module(all));
    made.push_back(std::move(collective));
  }
  if (!is_given(modules, "parameters") && (importer_of(modules, "parameters", true) || !parameters.empty())) {
    std::vector<modules::ParameterSource> sources;
    for (const std::string& parameter : parameters) sources.push_back(parse_parameter_source(parameter));
    BATON_TRY_ASSIGN(auto files, modules::make_parameters_module(sources));
    made.push_back(std::move(files));
  }
  modules::ModuleRegistry linked;
  BATON_TRY(add_static_modules(linked));
  for (const std::string_view name : linked.names()) {
    if (is_given(modules, name) || !importer_of(modules, name, true)) continue;
    BATON_TRY_ASSIGN(auto module, linked.make(name));
    made.push_back(std::move(module));
  }
  return made;
}

}  // namespace baton::tools
