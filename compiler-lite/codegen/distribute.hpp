// distribute: divides a kernel's work into tiles, one for each workgroup.
//
// The operation that makes the kernel's results is tiled along its parallel loops, and what it reads is computed tile
// by tile with it. Tiles are big enough that calling a kernel costs nothing beside their work, and small enough that
// there are some for each core. Grids have one dimension; kernels split the number again.
#pragma once

#include "compiler-lite/codegen/tile_sizes.hpp"
#include "llvm/ADT/SmallVector.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/AffineMap.h"

namespace baton::compiler_lite::codegen {

// Where a result goes, and its sizes in terms of the dispatch's constants.
struct Destination {
  mlir::bufferization::MaterializeInDestinationOp write;
  llvm::SmallVector<mlir::AffineExpr> sizes;
};

// So many workgroups in a row, (count, 1, 1), in terms of `symbol_count` constants.
mlir::AffineMap make_grid(mlir::MLIRContext* context, mlir::AffineExpr count, unsigned symbol_count);

// Rewrites `kernel` to compute one tile; gives the number of tiles as (x, y, z). When results come from several
// operations there is one tile.
mlir::FailureOr<mlir::AffineMap> distribute(mlir::func::FuncOp kernel, llvm::ArrayRef<Destination> destinations,
                                            unsigned symbol_count, Tiling tiling);

}  // namespace baton::compiler_lite::codegen
