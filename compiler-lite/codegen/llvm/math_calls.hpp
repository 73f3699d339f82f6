// lower_math: operations on floats that a target can't do itself become calls of our own functions (builtins/math.c),
// on scalars; the loop vectorizer makes vectors of them once they are inlined. f16 and bf16 are computed in f32.
#pragma once

#include "compiler-lite/codegen/llvm/machine.hpp"
#include "mlir/IR/BuiltinOps.h"

namespace baton::compiler_lite::codegen {

mlir::LogicalResult lower_math(mlir::ModuleOp kernels, const Machine& target);

}  // namespace baton::compiler_lite::codegen
