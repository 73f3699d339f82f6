// choose_tile_sizes: how large a tile of an operation's loops one workgroup should compute.
#pragma once

#include <cstdint>

#include "llvm/ADT/SmallVector.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace baton::compiler_lite::codegen {

// What a workgroup is: a call that a core makes, or a block of threads.
enum class Tiling { kCores, kBlocks };

// One size for each loop of `root`; 0: the loop isn't divided. Loops that reduce, and loops along which a reduction or
// product that `root` reads does not vary, are never divided: every tile would repeat it.
llvm::SmallVector<int64_t> choose_tile_sizes(mlir::linalg::LinalgOp root, Tiling tiling);

}  // namespace baton::compiler_lite::codegen
