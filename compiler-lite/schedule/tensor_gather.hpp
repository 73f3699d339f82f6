// tensor.gather as an elementwise operation: each element of the result says where it comes from.
#pragma once

namespace mlir {
class RewritePatternSet;
}

namespace baton::compiler_lite::schedule {

void populate_gather_patterns(mlir::RewritePatternSet& patterns);

}  // namespace baton::compiler_lite::schedule
