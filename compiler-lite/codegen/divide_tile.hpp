// divide_tile: the tile of a workgroup, computed in pieces.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace baton::compiler_lite::codegen {

// Rewrites a kernel on tensors so that what makes its results loops over halves of its tile, along the longest of the loops that may
// be divided (tile_sizes.hpp), and computes what it reads for each half. False where there is nothing to halve.
bool divide_tile(mlir::func::FuncOp kernel);

}  // namespace baton::compiler_lite::codegen
