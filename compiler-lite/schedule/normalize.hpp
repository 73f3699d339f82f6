// normalize: host functions in the form that dispatch formation likes: functions on tensors inlined, elementwise
// operations as linalg.generic and chains of them fused, unused work removed, loops and conditions over tensors as
// branches.
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace mlir {
class DialectRegistry;
}

namespace baton::compiler_lite::schedule {

// `channels_last`: convolutions have their channels in the fastest dimension.
mlir::LogicalResult normalize(mlir::ModuleOp module, bool channels_last);

// tensor.dim as the sizes that imports, dispatches and calls were given.
mlir::LogicalResult resolve_sizes(mlir::ModuleOp module);

}  // namespace baton::compiler_lite::schedule
