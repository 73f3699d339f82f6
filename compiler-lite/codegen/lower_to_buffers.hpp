// lower_to_buffers: the bodies of kernels, from linalg on tensors to linalg and loops on memrefs, the same way for every
// target: private functions inlined, tensors bufferized in place. How products and loops are written is the target's
// (cpu/lower_bodies.hpp, gpu/threads.hpp).
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace mlir {
class DialectRegistry;
}

namespace baton::compiler_lite::codegen {

// The dialects and interfaces that this folder's code makes and uses; load them before anything here is called.
void register_codegen(mlir::DialectRegistry& registry);

// Beyond it there are no tensors, and every call is one of a declared function. What branches hand on are pointers; where memory
// is of several kinds, it is memory that both write.
enum class Branches { kHandPointersOn, kWriteOneMemory };
mlir::LogicalResult lower_to_buffers(mlir::ModuleOp kernels, Branches branches = Branches::kHandPointersOn);
// For targets, when they have written the rest: what is computed twice or in a loop without need.
mlir::LogicalResult clean_up(mlir::ModuleOp kernels);

}  // namespace baton::compiler_lite::codegen
