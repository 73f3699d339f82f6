// Computed parts: what puts computed tensors together computes their elements itself, where blocks of threads compute. A rotary
// embedding, whose halves are computed and then put together, is one kernel so.
#pragma once

#include "mlir/IR/PatternMatch.h"

namespace baton::compiler_lite::schedule {

// An element that a body reads, known to be inside and read once, is computed there when an elementwise operation that nobody else
// reads made it. Slices and shapes of which only dimensions of one element differ are looked through.
void populate_computed_part_patterns(mlir::RewritePatternSet& patterns);

}  // namespace baton::compiler_lite::schedule
