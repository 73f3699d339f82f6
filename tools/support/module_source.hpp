// What a --module= names: a .bvm file, `-` for one on standard input, or a plugin as "plugin.so@entry?key=value". The
// content of the file decides, not its name.
#pragma once

#include <span>
#include <string>

#include "base/result.hpp"
#include "bytecode/module_bytes.hpp"
#include "vm/module.hpp"

namespace baton::tools {

// `importers`: modules that import from it (modules/plugin_loader.hpp).
Result<Ref<const vm::Module>> load_module(const std::string& source,
                                          std::span<const Ref<const vm::Module>> importers = {});

// Whether it is a library that is loaded after its importers.
bool comes_after_importers(const std::string& source);

// The bytes of a .bvm file or of standard input; nothing in them is verified.
Result<bytecode::ModuleBytes> load_module_bytes(const std::string& path);

}  // namespace baton::tools
