// Chosen parts: what a body reads of tensors that were put together, at a place that says which of them, it reads of that one;
// what it reads at its own place becomes an operand.
//
// x[i, j] puts i and j together as pairs, and reads each pair's first and second number. So no pairs are written, and what computes
// i and j joins what reads them.
#pragma once

namespace mlir {
class RewritePatternSet;
}

namespace baton::compiler_lite::schedule {

void populate_chosen_part_patterns(mlir::RewritePatternSet& patterns);

}  // namespace baton::compiler_lite::schedule
