// The sizes of what operations make, from the sizes of what they read. Where several sizes of one group of a
// tensor.expand_shape are open, MLIR 19 divides by the mark for an open size; the operation names them all.
#pragma once

#include "mlir/IR/PatternMatch.h"
#include "mlir/Pass/Pass.h"

namespace baton::compiler_lite::codegen {

// Comes before MLIR's own patterns for that operation, which many of its sets hold: belongs to every set for programs.
void populate_named_sizes(mlir::RewritePatternSet& patterns);
// All that MLIR has for sizes, with this.
void populate_dim_patterns(mlir::RewritePatternSet& patterns);

// MLIR's, which leaves those sizes to the patterns above: for passes over programs. Kernels have sizes of their own.
std::unique_ptr<mlir::Pass> create_canonicalizer();

}  // namespace baton::compiler_lite::codegen
