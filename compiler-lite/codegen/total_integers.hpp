// total_integers: integer operations of kernels have a result whatever their operands are.
//
// MLIR leaves open what a division by zero is, the smallest number by -1, a shift by as many bits as there are, a float that
// is no integer of the type, and an operation whose flags promise that nothing wraps round. A processor ends the process at the first two, and the rest
// depends on whether an element fell into a vector. A kernel has no trap; so here, on every device:
//
//   x / 0          all bits set, which is -1 where there are signs
//   x rem 0        x
//   smallest / -1  the smallest number, and its remainder is 0
//   shifts         by the width or more leave nothing but the sign, as on the host
//   flags          promise nothing: sums, products and shifts wrap round
//   from floats    what is beyond the integers is the nearest one, and what is no number is 0, as on the host
//
// Constants that are none of these leave no code. Scalars of the host trap instead.
#pragma once

#include "mlir/IR/Operation.h"

namespace baton::compiler_lite::codegen {

// Of scalars and vectors in kernels below `root`: bodies of operations on tensors, and kernels that stand in executables.
void make_integers_total(mlir::Operation* root);

}  // namespace baton::compiler_lite::codegen
