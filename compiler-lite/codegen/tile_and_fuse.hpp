// tile_and_fuse: a loop over tiles of an operation, in which what it reads is computed tile by tile.
//
// MLIR's own (tileConsumerAndFuseProducersUsingSCF) computes a producer anew for each path that leads to it, and leaves it to a
// later pass to see that they are the same: a group of 24 sums that are each subtracted from what they are of has 2^24 paths.
// Here producers come in turn, the last of the function first. All that read one have been seen by then, and what reads the same
// part of it shares it.
#pragma once

#include "mlir/Dialect/SCF/Transforms/TileUsingInterface.h"

namespace baton::compiler_lite::codegen {

// What is returned replaces the results of `root`; producers are those before it in its block, and in those around it.
mlir::FailureOr<mlir::scf::SCFTilingResult> tile_and_fuse(mlir::RewriterBase& rewriter, mlir::TilingInterface root,
                                                          const mlir::scf::SCFTilingOptions& options);

}  // namespace baton::compiler_lite::codegen
