// lower_to_buffers, lower_bodies: the bodies of kernels, from linalg on tensors or memrefs down to loops, vectors and
// memory.
//
// The flow: inline private functions, bufferize in place, write contractions as tiled and packed vector code
// (contraction.hpp), everything else as loops for LLVM's vectorizer (loops.hpp), and give what is allocated a place
// (temporaries.hpp). What a kernel needs no more than a target's vector width to know is decided here; the rest is the
// target's.
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace mlir {
class DialectRegistry;
}

namespace baton::compiler_lite::codegen {

struct BodyOptions {
  unsigned vector_bytes = 16;
  unsigned vector_registers = 16;
};

// The dialects and interfaces that this folder's code makes and uses; load them before anything here is called.
void register_codegen(mlir::DialectRegistry& registry);

// The part that is the same for every target: beyond it there are no tensors, and every call is one of a declared
// function.
mlir::LogicalResult lower_to_buffers(mlir::ModuleOp kernels);
// The rest, after it, where a workgroup is one thread.
mlir::LogicalResult lower_bodies(mlir::ModuleOp kernels, const BodyOptions& options);
// Its last step: what is computed twice or in a loop without need.
mlir::LogicalResult clean_up(mlir::ModuleOp kernels);

}  // namespace baton::compiler_lite::codegen
