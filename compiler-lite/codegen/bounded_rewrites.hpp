// rewrite_greedily: patterns applied until none fits any more, with an end in any case.
//
// Two patterns that undo each other would go on for ever; the driver sets no bound on what happens within one round over
// the program. Here a program may take so many rewrites for each operation, which is far more than programs take, and
// fails with a sentence beyond it; it may take as many rounds as it has operations, and ten million visits of operations in
// them, which are seconds.
#pragma once

#include "mlir/Rewrite/FrozenRewritePatternSet.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace baton::compiler_lite::codegen {

// Blocks that are alike stay as they are: MLIR 19 gives the block that it makes of two of them arguments of wrong types
// where one value is passed for several ("type mismatch for bb argument"). It is the driver's default to merge them.
constexpr mlir::GreedySimplifyRegionLevel kRegionSimplification = mlir::GreedySimplifyRegionLevel::Normal;

mlir::LogicalResult rewrite_greedily(mlir::Operation* op, const mlir::FrozenRewritePatternSet& patterns);

}  // namespace baton::compiler_lite::codegen
