// What the operands of an instruction are called in isa.inc: for people who read listings and ISA.md.
#pragma once

#include <cstddef>
#include <string_view>

#include "bytecode/opcode.hpp"

namespace baton::bytecode {

// "dst", "lhs", "label"; `index` counts the operands of the row.
std::string_view operand_name(Opcode opcode, size_t index);

}  // namespace baton::bytecode
