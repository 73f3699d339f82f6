#include "compiler-lite/codegen/bounded_rewrites.hpp"

namespace baton::compiler_lite::codegen {

mlir::LogicalResult rewrite_greedily(mlir::Operation* op, const mlir::FrozenRewritePatternSet& patterns) {
  constexpr int64_t kRewritesAtLeast = 10000, kRewritesForEach = 100, kRoundsAtLeast = 10;
  int64_t operations = 0;
  op->walk([&](mlir::Operation*) { ++operations; });
  mlir::GreedyRewriteConfig config;
  config.enableRegionSimplification = kRegionSimplification;
  // A chain of which each operation waits for the next one, as a polynomial's, takes a round for each.
  config.maxIterations = kRoundsAtLeast + operations;
  config.maxNumRewrites = kRewritesAtLeast + kRewritesForEach * operations;
  if (mlir::succeeded(mlir::applyPatternsAndFoldGreedily(op, patterns, config))) return mlir::success();
  return op->emitError() << "This has " << operations << " operations, which " << config.maxNumRewrites
                         << " rewrites didn't bring to an end.";
}

}  // namespace baton::compiler_lite::codegen
