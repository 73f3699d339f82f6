// Which instruction an arith or math operation is, by the type of its first operand.
#pragma once

#include <optional>

#include "bytecode/opcode.hpp"
#include "bytecode/value_type.hpp"
#include "llvm/ADT/StringRef.h"

namespace baton::compiler_lite::emit {

// Emits operations whose operands and result match the instruction's row: arith.addi on i32 is add.i32.
std::optional<bytecode::Opcode> scalar_opcode(llvm::StringRef operation, bytecode::ValueType type);

// For conversions, by both types.
std::optional<bytecode::Opcode> conversion_opcode(llvm::StringRef operation, bytecode::ValueType from,
                                                  bytecode::ValueType to);

}  // namespace baton::compiler_lite::emit
