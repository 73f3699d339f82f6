// lower_to_llvm: kernels in loops become a module of the llvm dialect.
#pragma once

#include <vector>

#include "compiler-lite/codegen/cpu/entry_points.hpp"
#include "compiler-lite/codegen/cpu/levels.hpp"

namespace baton::compiler_lite::codegen::cpu {

// `kernels` in: loops over memrefs (codegen/lower_bodies.hpp). Out: llvm.funcs, one body for each entry point.
mlir::FailureOr<std::vector<EntryPoint>> lower_to_llvm(mlir::ModuleOp kernels, const TargetInfo& target,
                                                       const ImportTable& imports);

}  // namespace baton::compiler_lite::codegen::cpu
