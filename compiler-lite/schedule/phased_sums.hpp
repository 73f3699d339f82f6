// phased_sums: sums over windows of a tensor that has zeros between its elements, as transposed convolutions and gradients
// of strided ones are written, without the products with these zeros.
//
// Where elements stand s apart and the window goes one place at a time, result i = s j + p meets elements at the taps
// k = s t + r(p) alone, and there the element j + t + q(p). So there are s sums along the dimension, each over a part of
// the taps, and each is written at every s-th place of the result.
#pragma once

#include "mlir/IR/PatternMatch.h"

namespace baton::compiler_lite::schedule {

// For linalg.generic on tensors of known sizes, before what inserts the elements between zeros is fused with anything.
void populate_phased_sum_patterns(mlir::RewritePatternSet& patterns);

}  // namespace baton::compiler_lite::schedule
