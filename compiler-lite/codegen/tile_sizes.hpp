// choose_tile_sizes: how large a tile of an operation's loops one workgroup should compute.
#pragma once

#include <cstdint>
#include <optional>

#include "llvm/ADT/SmallVector.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace baton::compiler_lite::codegen {

// What a workgroup is: a call that a core makes, or a block of threads.
enum class Tiling { kCores, kBlocks };

// One size for each loop of `root`; 0: the loop isn't divided. Loops that reduce, and loops along which a reduction or
// product that `root` reads does not vary, are never divided: every tile would repeat it.
llvm::SmallVector<int64_t> choose_tile_sizes(mlir::linalg::LinalgOp root, Tiling tiling);

// Tiles in another order than that of the loops, whose last one is the fastest: `group` tiles along `rows` follow each other
// before the next ones along `columns`. Nothing: it pays nobody.
struct TileOrder {
  unsigned rows, columns;  // Loops of `root`, both of them divided.
  int64_t group;
};
std::optional<TileOrder> choose_tile_order(mlir::linalg::LinalgOp root, llvm::ArrayRef<int64_t> tiles, Tiling tiling);

// Loops that may be divided so.
llvm::SmallVector<bool> divisible_loops(mlir::linalg::LinalgOp root);

// Into how many parts of one length the steps of a product are best divided, each the work of blocks of its own: 1 where its
// tiles give all of a GPU work, or where sizes are open. The sum of the parts is another dispatch, which costs what
// `product_parts` weighs.
int64_t product_parts(mlir::linalg::LinalgOp product);

}  // namespace baton::compiler_lite::codegen
