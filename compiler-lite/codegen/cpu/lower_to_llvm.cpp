#include "compiler-lite/codegen/cpu/lower_to_llvm.hpp"

#include "compiler-lite/codegen/llvm/llvm_dialect.hpp"
#include "compiler-lite/codegen/llvm/math_calls.hpp"

namespace baton::compiler_lite::codegen::cpu {

mlir::FailureOr<std::vector<EntryPoint>> lower_to_llvm(mlir::ModuleOp kernels, const TargetInfo& target,
                                                       const ImportTable& imports) {
  if (mlir::failed(lower_to_blocks(kernels)) || mlir::failed(lower_math(kernels, target))) return mlir::failure();
  mlir::FailureOr<std::vector<EntryPoint>> entries = lower_entry_points(kernels, imports);
  if (mlir::failed(entries) || mlir::failed(lower_to_llvm_dialect(kernels, "the CPU"))) return mlir::failure();
  return entries;
}

}  // namespace baton::compiler_lite::codegen::cpu
