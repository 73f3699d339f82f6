// Sizes of tensors, read from where they are known.
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace baton::compiler_lite::specs {

// tensor.dim of what comes from a buffer view or out of a dispatch becomes the dimension that stands there.
mlir::LogicalResult fold_dims(mlir::ModuleOp program);

}  // namespace baton::compiler_lite::specs
