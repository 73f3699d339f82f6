// Instructions under the lines of source that they came from. Unlike the text of bytecode/disassembler.hpp it is for
// reading only: each instruction has its pc, which is what traps and traces name.
#pragma once

#include <string>

#include "bytecode/module_view.hpp"

namespace baton::tools::dump {

// A heading, then each function. The line itself is shown where the file is still there to be read.
std::string describe_disassembly(const bytecode::ModuleView& module);

// " (program.mlir:4:12)", or nothing when the module does not say or there is no pc (kNoIndex).
std::string describe_place(const bytecode::ModuleView& module, uint32_t pc);

}  // namespace baton::tools::dump
