// Operations on lists and host bytes that are one instruction.
#pragma once

#include <optional>

#include "bytecode/opcode.hpp"
#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/Operation.h"

namespace baton::compiler_lite::emit {

struct ObjectInstruction {
  bytecode::Opcode opcode;
  llvm::SmallVector<mlir::Value, 5> operands;  // Behind the result, where there is one.
};

// Nothing for other operations, and for elements that neither a list nor bytes hold.
std::optional<ObjectInstruction> object_instruction(mlir::Operation& op);

}  // namespace baton::compiler_lite::emit
