// check_kernels: --sanitize for the CPU. A kernel that would access memory outside of its bindings, its local memory or
// its temporaries writes the check's number, the offset and the size where the workgroup's state says, and returns.
#pragma once

#include <vector>

#include "compiler-lite/codegen/cpu/entry_points.hpp"
#include "compiler-lite/codegen/llvm/access_checks.hpp"

namespace baton::compiler_lite::codegen::cpu {

// After lower_to_llvm. The checks of all kernels, by their numbers.
mlir::FailureOr<std::vector<AccessCheck>> check_kernels(mlir::ModuleOp kernels, llvm::ArrayRef<EntryPoint> entries);

}  // namespace baton::compiler_lite::codegen::cpu
