// The device code of a module as files, for the tools of its target: disassemblers, profilers, a driver's compiler.
#pragma once

#include <string>

#include "base/result.hpp"
#include "bytecode/module_view.hpp"

namespace baton::tools::dump {

// Writes a file for each variant into `folder`, which is made when it is missing, and tells them, a line each. They are
// called <executable>.<format>.<suffix>.
Result<std::string> extract(const bytecode::ModuleView& module, const std::string& folder);

}  // namespace baton::tools::dump
