// populate_stepped_sum_patterns: a sum of products with a tensor that has zeros between its elements, as convolutions
// with dilated kernels and gradients of strided ones have it, takes the steps at which there are elements.
#pragma once

#include "mlir/IR/PatternMatch.h"

namespace baton::compiler_lite::schedule {

// A product with a zero counts as nothing, whatever the other number is.
void populate_stepped_sum_patterns(mlir::RewritePatternSet& patterns);

}  // namespace baton::compiler_lite::schedule
