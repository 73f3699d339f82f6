// rewrite_greedily: patterns applied until none fits any more, with an end in any case.
//
// Two patterns that undo each other would go on for ever; the driver counts iterations over the program and sets no
// bound on what happens within one. Here a program may take so many rewrites for each operation, which is far more than
// programs take, and fails with a sentence beyond it.
#pragma once

#include "mlir/Rewrite/FrozenRewritePatternSet.h"

namespace mlir {
class Operation;
}

namespace baton::compiler_lite::codegen {

mlir::LogicalResult rewrite_greedily(mlir::Operation* op, const mlir::FrozenRewritePatternSet& patterns);

}  // namespace baton::compiler_lite::codegen
