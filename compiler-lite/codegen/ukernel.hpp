// iree_codegen.ukernel.generic: a call of a user's function on slices of tensors.
//
// On tensors it is bufferized like any operation in destination style; on memrefs it becomes a call. The function gets
// for each input, then each output: the base, the offset in elements, and the strides that `strided_dims` lists (all
// without it); then the other operands as they are.
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace mlir {
class DialectRegistry;
}

namespace baton::compiler_lite::codegen {

void register_ukernel_bufferization(mlir::DialectRegistry& registry);

// On memrefs.
mlir::LogicalResult ukernels_to_calls(mlir::ModuleOp kernels);

}  // namespace baton::compiler_lite::codegen
