// lower_to_threads: the work of a workgroup, given to the threads of a block.
//
// A kernel says what a workgroup does; every thread runs all of it. What loops over elements (linalg) is divided among
// the threads, with barriers between one and the next; what stands alone (a number, a size, a store of one element) is
// computed by each thread and written by the first. Calls of functions are made by every thread: such functions divide
// their work themselves.
#pragma once

#include "compiler-lite/codegen/gpu/features.hpp"
#include "mlir/IR/BuiltinOps.h"

namespace baton::compiler_lite::codegen::gpu {

// Beyond it there are loops over memrefs, threads and barriers.
mlir::LogicalResult lower_to_threads(mlir::ModuleOp kernels, const Features& features);

}  // namespace baton::compiler_lite::codegen::gpu
