// lower_to_loops: linalg operations and copies on memrefs become loops of loads and stores that LLVM vectorizes.
//
// The order of loops decides how fast they are: the innermost one should walk through memory in steps of one. Sums and
// products of floats may be reassociated, or no reduction could use vectors.
#pragma once

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/PatternMatch.h"

namespace baton::compiler_lite::codegen {

mlir::LogicalResult lower_to_loops(mlir::ModuleOp kernels);

// Its parts, for targets that make loops of their own.

// memref.copy would be a call of a library when the memory isn't contiguous.
void copies_to_linalg(mlir::IRRewriter& rewriter, mlir::ModuleOp kernels);
// `op` with its body written out; or a message.
mlir::FailureOr<mlir::linalg::GenericOp> generalize(mlir::IRRewriter& rewriter, mlir::linalg::LinalgOp op);
// Which of the loops should be the one whose steps follow each other.
unsigned best_innermost(mlir::linalg::GenericOp op, llvm::ArrayRef<unsigned> loops);
// What is added to or multiplied with the accumulator may be so in any order.
void allow_reassociation(mlir::linalg::GenericOp op);

}  // namespace baton::compiler_lite::codegen
