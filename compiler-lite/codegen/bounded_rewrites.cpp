#include "compiler-lite/codegen/bounded_rewrites.hpp"

namespace baton::compiler_lite::codegen {

mlir::LogicalResult rewrite_greedily(mlir::Operation* op, const mlir::FrozenRewritePatternSet& patterns) {
  constexpr int64_t kRewritesAtLeast = 10000, kRewritesForEach = 100, kRoundsAtLeast = 10, kVisits = 10'000'000;
  int64_t operations = 0;
  op->walk([&](mlir::Operation*) { ++operations; });
  mlir::GreedyRewriteConfig config;
  config.enableRegionSimplification = kRegionSimplification;
  // A chain of which each operation waits for the next one, as a polynomial's, takes a round for each,
  // and each round visits all of them.
  config.maxIterations = kRoundsAtLeast + std::min(operations, kVisits / std::max<int64_t>(operations, 1));
  config.maxNumRewrites = kRewritesAtLeast + kRewritesForEach * operations;
  if (mlir::succeeded(mlir::applyPatternsAndFoldGreedily(op, patterns, config))) return mlir::success();
  return op->emitError() << "This has " << operations << " operations, which " << config.maxNumRewrites
                         << " rewrites in " << config.maxIterations << " rounds didn't bring to an end.";
}

}  // namespace baton::compiler_lite::codegen
