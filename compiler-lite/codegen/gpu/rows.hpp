// lower_rows: a kernel whose operations all run along the same rows, with the rows' elements in registers.
//
// Softmax, norms, sums of rows and what is computed around them: each thread keeps its elements of a row from the first
// operation to the last, so memory is read once and written once whatever happens in between. What one operation
// leaves for the next never gets an address.
#pragma once

#include "compiler-lite/codegen/gpu/features.hpp"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/PatternMatch.h"

namespace baton::compiler_lite::codegen::gpu {

// False, with nothing changed, when the kernel has none of these forms, or its rows are too long or of unknown length.
mlir::FailureOr<bool> lower_rows(mlir::IRRewriter& rewriter, mlir::func::FuncOp kernel, const Features& features);

}  // namespace baton::compiler_lite::codegen::gpu
