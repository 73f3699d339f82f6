// channels_last: convolutions over N, C, H, W as ones over N, H, W, C, with transposes around them.
//
// A block of threads loads pieces of 16 bytes and gives its tensor cores whole tiles. Windows that lie along the
// fastest dimension allow neither: they begin at any element, and each row of an image is a product of its own. Channels
// there allow both, for the price of a copy of the image and one of the result. The copy of the result becomes part of
// the elementwise operation that reads it.
#pragma once

#include "mlir/IR/PatternMatch.h"

namespace baton::compiler_lite::schedule {

// For linalg operations on tensors, before elementwise operations are fused.
void populate_channels_last_patterns(mlir::RewritePatternSet& patterns);

}  // namespace baton::compiler_lite::schedule
