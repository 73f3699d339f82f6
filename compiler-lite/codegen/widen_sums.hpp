// widen_sums: sums and products of f16 and bf16 are kept in f32 until they are whole.
#pragma once

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::func {
class FuncOp;
}

namespace baton::compiler_lite::codegen {

// Each operation of `kernel` that adds up or multiplies up f16 or bf16 does it in f32, and one behind it rounds what
// comes out. `keeps` says of which operations not: those whose code does so by itself. With `extremes` so are the largest
// and the smallest of numbers: nothing is lost without, but most processors compare vectors of f32 only.
void widen_sums(mlir::func::FuncOp kernel, bool extremes, llvm::function_ref<bool(mlir::Operation*)> keeps);

// The same of one operation on tensors; gives what does the sums then.
mlir::linalg::GenericOp widen_sum(mlir::IRRewriter& rewriter, mlir::linalg::GenericOp op);

}  // namespace baton::compiler_lite::codegen
