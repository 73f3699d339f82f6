// lower_kernels: kernels on tensors, to what the threads of blocks do with memrefs.
#pragma once

#include "compiler-lite/codegen/gpu/features.hpp"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace baton::compiler_lite::codegen::gpu {

// Where the temporaries of a kernel find no room in shared memory, its workgroups compute their tiles in pieces.
mlir::LogicalResult lower_kernels(mlir::OwningOpRef<mlir::ModuleOp>& kernels, const Features& features);

// Whether it does that with kernels that are one loop's turns each, and leaves no pointers to memory of several kinds.
bool takes_loops(mlir::OwningOpRef<mlir::ModuleOp> kernels, const Features& features);

}  // namespace baton::compiler_lite::codegen::gpu
