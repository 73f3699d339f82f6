// padded_channels: convolutions of halves whose channels fill no pieces of 16 bytes, as ones of more channels, which are zeros.
//
// A block of threads copies pieces of 16 bytes, and brings what begins elsewhere element by element. A picture's three
// channels, and as many of each window, cost as little as eight then.
#pragma once

#include "mlir/IR/PatternMatch.h"

namespace baton::compiler_lite::schedule {

// For linalg operations on tensors, with channels_last.
void populate_padded_channels_patterns(mlir::RewritePatternSet& patterns);

}  // namespace baton::compiler_lite::schedule
