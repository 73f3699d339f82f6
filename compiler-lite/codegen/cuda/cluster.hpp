// Blocks of a cluster (gpu::kClusterBlocks): they run side by side and read each other's shared memory.
#pragma once

#include <cstdint>

#include "mlir/IR/Builders.h"

namespace baton::compiler_lite::codegen::cuda::cluster {

// All threads of all the cluster's blocks wait for each other, and see what the others have written.
void barrier(mlir::OpBuilder& builder, mlir::Location location);

// Where the cluster's `block`-th block has what this one has at `shared`, a pointer to shared memory; both are generic.
mlir::Value address(mlir::OpBuilder& builder, mlir::Location location, mlir::Value shared, int64_t block);

}  // namespace baton::compiler_lite::codegen::cuda::cluster
