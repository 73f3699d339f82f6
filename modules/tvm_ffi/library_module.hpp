// A TVM-FFI library as a module of a program: `--module=add_one.so`.
//
// Each function that the library exports ("__tvm_ffi_add_one") is one of the module, under the name of the file or
// `name=`. What it takes is what a parameter says ("add_one=(view, view)"), else what the program imports it as, else
// what the library itself tells of it.
#pragma once

#include "modules/plugin_loader.hpp"

namespace baton::modules::tvm_ffi {

// Whether the file is such a library.
bool is_library(const std::string& path);

Result<Ref<const vm::Module>> load_library(const PluginReference& reference,
                                           std::span<const Ref<const vm::Module>> importers);

}  // namespace baton::modules::tvm_ffi
