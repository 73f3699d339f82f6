// normalize: host functions in the form that dispatch formation likes: functions on tensors inlined, elementwise
// operations as linalg.generic and chains of them fused, unused work removed, loops and conditions over tensors as
// branches.
#pragma once

#include "compiler-lite/schedule/small_loops.hpp"
#include "mlir/IR/BuiltinOps.h"

namespace mlir {
class DialectRegistry;
}

namespace baton::compiler_lite::schedule {

// Where products will run: cores want many columns and no zeros between elements; blocks of threads want a
// convolution's channels in the fastest dimension.
enum class Products { kAnywhere, kOnCores, kOnBlocks };
// Small loops become kernels where they have room (small_loops.hpp), and none does where `has_room` is null.
mlir::LogicalResult normalize(mlir::ModuleOp module, Products products, RoomTest has_room);

// tensor.dim as the sizes that imports, dispatches and calls were given.
mlir::LogicalResult resolve_sizes(mlir::ModuleOp module);

}  // namespace baton::compiler_lite::schedule
