// From loops and vectors to the llvm dialect, and from that to LLVM: the steps that targets have in common.
#pragma once

#include <memory>

#include "llvm/ADT/StringRef.h"
#include "mlir/IR/BuiltinOps.h"

namespace llvm {
class LLVMContext;
class Module;
}  // namespace llvm

namespace baton::compiler_lite::codegen {

// Control flow becomes blocks and branches.
mlir::LogicalResult lower_to_blocks(mlir::ModuleOp kernels);
// Converts everything else to the llvm dialect, or reports it as unknown "in kernels for <place>".
mlir::LogicalResult lower_to_llvm_dialect(mlir::ModuleOp kernels, llvm::StringRef place);
// Null after a diagnostic.
std::unique_ptr<llvm::Module> translate(mlir::ModuleOp kernels, llvm::LLVMContext& context);

}  // namespace baton::compiler_lite::codegen
