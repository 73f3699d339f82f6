// wide_columns: products whose results have few columns, with a longer dimension in their place.
//
// A core computes a vector of columns at once, a block of threads a tile of them: the fastest dimension of the result. Where
// that is a window's width, as in the gradient of a kernel over N, C, H, W, or the colours of an image, most of it is empty.
// Another dimension becomes the fastest one, in the result and in the operand that moves along it; both are copied.
#pragma once

#include "mlir/IR/PatternMatch.h"

namespace baton::compiler_lite::schedule {

// Which products: all, or those whose steps are several loops, as windows and images have them, or whose
// columns are a short loop beside a long one, which a tile doesn't take along.
enum class Widened { kAll, kOfSeveralLoops };
// For linalg operations on tensors, before elementwise operations are fused.
void populate_wide_column_patterns(mlir::RewritePatternSet& patterns, Widened which);

}  // namespace baton::compiler_lite::schedule
