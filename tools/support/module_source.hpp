// What a --module= names: a .bvm file, `-` for one on standard input, or a plugin as "plugin.so@entry?key=value". The
// content of the file decides, not its name.
#pragma once

#include <string>

#include "base/result.hpp"
#include "bytecode/module_bytes.hpp"
#include "vm/module.hpp"

namespace baton::tools {

Result<Ref<const vm::Module>> load_module(const std::string& source);

// The bytes of a .bvm file or of standard input; nothing in them is verified.
Result<bytecode::ModuleBytes> load_module_bytes(const std::string& path);

}  // namespace baton::tools
