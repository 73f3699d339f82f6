// check_kernels: --sanitize for GPUs. A kernel that would access memory outside of its bindings, its shared memory or its
// temporaries writes down the check's number, the offset and the size (hal/interface/access_checks.hpp), if it is the
// first of its dispatch, and goes on with zeros: other threads of the block may wait for this one.
#pragma once

#include <string>
#include <vector>

#include "compiler-lite/codegen/gpu/entry_points.hpp"
#include "compiler-lite/codegen/llvm/access_checks.hpp"

namespace baton::compiler_lite::codegen::gpu {

// Once all is in the llvm dialect. Kernels get parameters behind those that they have: the length of each binding as
// 64 bits, and where to write. The checks of all kernels, by their numbers.
mlir::FailureOr<std::vector<AccessCheck>> check_kernels(mlir::ModuleOp kernels, llvm::ArrayRef<EntryPoint> entries);

// As drivers read them.
std::string access_check_rows(llvm::ArrayRef<AccessCheck> checks);

}  // namespace baton::compiler_lite::codegen::gpu
