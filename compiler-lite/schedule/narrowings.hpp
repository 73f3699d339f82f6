// Narrowings: what makes tensors smaller, element by element, before they are sliced or seen in another shape, so that it joins
// what made them.
#pragma once

#include "mlir/IR/PatternMatch.h"

namespace baton::compiler_lite::schedule {

// narrow(view(x)) is view(narrow(x)). Of slices all that are read of a tensor have to be narrowed the same way.
void populate_narrowing_patterns(mlir::RewritePatternSet& patterns);

}  // namespace baton::compiler_lite::schedule
