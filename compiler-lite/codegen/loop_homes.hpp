// give_loops_homes: tensors that a loop carries from one turn to the next get memory of their own, their home.
//
// Bufferization would let a turn hand any memory on to the next, and so allocate in each. Here a turn begins with what
// lies in the home, and ends with a copy to it, which vanishes where the turn has updated the home in place:
//
//   scf.for ... iter_args(%t = %first)        copy %first to %home
//     %next = ... %t ...                      scf.for ...
//     scf.yield %next                           %t = to_tensor %home; %next = ... %t ...; copy %next to %home
//
// The home is the memory of the first value where that may be written and nobody else uses it, such as a binding that a
// result is tied to.
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace baton::compiler_lite::codegen {

// Of each scf.for, and of each scf.while whose condition hands its tensors on as they come: others stay as they are.
// Sizes must be known.
void give_loops_homes(mlir::ModuleOp kernels);

// The same of what the branches of an scf.if hand on, where they don't update one tensor: each copies to the home. Else a
// pointer comes out of the branch, to memory of one kind or of another.
void give_branches_homes(mlir::ModuleOp kernels);
// Whether branches or loops hand on pointers still.
bool hands_pointers_on(mlir::ModuleOp buffers);

}  // namespace baton::compiler_lite::codegen
