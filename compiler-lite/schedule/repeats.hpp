// repeats: elements that are repeated along several dimensions, as an image of twice the size is made, are repeated at once.
#pragma once

#include "mlir/IR/PatternMatch.h"

namespace baton::compiler_lite::schedule {

// For linalg operations on tensors, beside those that fuse elementwise operations: what reads a tensor that was repeated along a
// dimension and put into the shape of one without it reads the elements themselves, and fusion makes one of both. Where threads
// compute, which find their places in more dimensions as fast.
void populate_repeat_patterns(mlir::RewritePatternSet& patterns);

}  // namespace baton::compiler_lite::schedule
