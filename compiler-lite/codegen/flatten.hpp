// flatten_elementwise: a kernel that does the same with every element needs no dimensions.
//
// When all its work is one elementwise operation whose operands all have the shape of the results (or are single
// elements), its bindings become rows of elements, so that the inner loop is long whatever the shape was.
#pragma once

#include "compiler-lite/codegen/distribute.hpp"

namespace baton::compiler_lite::codegen {

// Leaves other kernels as they are. Changes `destinations` with the kernel.
void flatten_elementwise(mlir::func::FuncOp kernel, llvm::SmallVectorImpl<Destination>& destinations);

}  // namespace baton::compiler_lite::codegen
