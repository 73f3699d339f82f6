// choose_tile_sizes: how large a tile of an operation's loops one workgroup should compute.
#pragma once

#include <cstdint>
#include <optional>

#include "llvm/ADT/SmallVector.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace baton::compiler_lite::codegen {

// What a workgroup is: a call that a core makes, or a block of threads.
enum class Tiling { kCores, kBlocks };

// Tiles in another order than that of the loops, whose last one is the fastest: `group` tiles along `rows` follow each other
// before the next ones along `columns`, if both loops are divided.
struct TileOrder {
  unsigned rows, columns;
  int64_t group;
};

// One size for each loop of `root`; 0: the loop isn't divided. Loops that reduce, and loops along which a reduction or
// product that `root` reads does not vary, are never divided: every tile would repeat it.
struct TileSizes {
  llvm::SmallVector<int64_t> sizes;
  std::optional<TileOrder> order;
};
TileSizes choose_tile_sizes(mlir::linalg::LinalgOp root, Tiling tiling);

// Loops that may be divided so.
llvm::SmallVector<bool> divisible_loops(mlir::linalg::LinalgOp root);

// Of the GPUs that the numbers for blocks were measured on: an H100 and an H200.
inline constexpr int64_t kMultiprocessors = 132;
// Rows so short that one thread of a block reduces each; several threads share longer ones.
inline constexpr int64_t kRowOfThread = 16;
// What is turned round passes through squares of shared memory, but not where one of their sides is shorter than this: most of
// a square would be empty.
inline constexpr int64_t kShortSide = 32;
// Whether the loops of a reduction, and no others, run along the memory of the input that has most dimensions. Sliding
// windows along it do not count as rows: neighbouring threads read neighbouring elements there.
bool reduces_rows(mlir::linalg::LinalgOp op);

// Into how many parts of one length the steps of a product are best divided, each the work of blocks of its own: 1 where its
// tiles give all of a GPU work, or where sizes are open. The sum of the parts is another dispatch, which costs what
// `product_parts` weighs.
int64_t product_parts(mlir::linalg::LinalgOp product);
// The same of one with several loops of steps, as sums over windows and images have them: one of them is divided. Of the loops
// that `may_be_divided`.
struct LoopParts {
  unsigned loop = 0;
  int64_t parts = 1;
};
LoopParts product_loop_parts(mlir::linalg::LinalgOp product, llvm::function_ref<bool(unsigned)> may_be_divided);

}  // namespace baton::compiler_lite::codegen
