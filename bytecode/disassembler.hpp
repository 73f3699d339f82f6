// ModuleView → .bvmasm text, the inverse of the assembler: assembling it gives the same bytes.
#pragma once

#include <cstdint>
#include <string>

#include "bytecode/module_view.hpp"

namespace baton::bytecode {

std::string disassemble(const ModuleView& module);

// One instruction without its label or comment: "add.i32 %v2, %v0, %v1". For traces and messages.
std::string disassemble_instruction(const ModuleView& module, uint32_t pc);
// The same with the names of its registers, for people: "add.i32 dst=%v2, lhs=%v0, rhs=%v1". The assembler does not read
// it.
std::string list_instruction(const ModuleView& module, uint32_t pc);

}  // namespace baton::bytecode
