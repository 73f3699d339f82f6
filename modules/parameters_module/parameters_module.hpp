// The module "parameters": constants from files, as buffers and views. README.md lists the imports.
// Threads: immutable.
#pragma once

#include <span>

#include "modules/parameters_module/parameter_files.hpp"
#include "vm/module.hpp"

namespace baton::modules {

Result<Ref<const vm::Module>> make_parameters_module(std::span<const ParameterSource> sources);

}  // namespace baton::modules
