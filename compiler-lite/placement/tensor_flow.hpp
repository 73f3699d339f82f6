// How tensors go on from one operation to the next: what only hands them on, and what works on them.
#pragma once

#include "mlir/IR/Operation.h"

namespace baton::compiler_lite::placement {

// An operand that goes on as another value, with the same elements: of a branch, a yield, a barrier.
struct Handover {
  mlir::OpOperand* from;
  mlir::Value to;
};
llvm::SmallVector<Handover> handovers_of(mlir::Operation* op);

// Loops and conditions, whose regions are walked like blocks.
bool is_control_flow(mlir::Operation* op);
// What does no work on the tensors that it has: it hands them on, or is an end of a block.
bool only_hands_on(mlir::Operation* op);

// What an operation that works takes: its operands that are tensors, and tensors from outside that stand in its regions.
llvm::SmallVector<mlir::OpOperand*> tensors_taken(mlir::Operation* op);

// Whether it makes tensors of nothing that lies somewhere: of constants and numbers. `floats` answers for its operands.
bool is_made_anywhere(mlir::Operation* op, llvm::function_ref<bool(mlir::Value)> floats);

}  // namespace baton::compiler_lite::placement
