// A module as JSON, for other programs: everything but the bytes of its rodata, whose sizes stand there.
#pragma once

#include <string>

#include "bytecode/module_view.hpp"

namespace baton::tools::dump {

std::string module_json(const bytecode::ModuleView& module);

}  // namespace baton::tools::dump
