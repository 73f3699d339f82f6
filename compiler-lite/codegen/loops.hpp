// lower_to_loops: linalg operations and copies on memrefs become loops of loads and stores that LLVM vectorizes.
//
// The order of loops decides how fast they are: the innermost one should walk through memory in steps of one. Sums and
// products of floats may be reassociated, or no reduction could use vectors.
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace baton::compiler_lite::codegen {

mlir::LogicalResult lower_to_loops(mlir::ModuleOp kernels);

}  // namespace baton::compiler_lite::codegen
