// split_loops: a loop whose body asks how far it is becomes two, one on either side of the place that it asks about.
//
// Concatenations, rolls and pads read one tensor before a place and another one after it. A branch around a load keeps
// LLVM from vectors; in each of the parts the answer is known, and the branch is gone.
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace baton::compiler_lite::codegen::cpu {

// Innermost loops, after lower_to_loops.
void split_loops(mlir::ModuleOp kernels);

}  // namespace baton::compiler_lite::codegen::cpu
