// structure: optimized LLVM IR, whose control flow is any graph, as loops and choices in one another, which is what
// SPIR-V can say.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "llvm/IR/Module.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"

namespace llvm {
class TargetMachine;
}

namespace baton::compiler_lite::codegen::vulkan {

struct Structured {
  std::unique_ptr<mlir::MLIRContext> context;
  // Functions of the llvm dialect, in which scf.if, scf.while and scf.index_switch stand for branches.
  mlir::OwningOpRef<mlir::ModuleOp> module;
  // Constants of the program that are read by index, as words.
  std::map<std::string, std::vector<uint32_t>> tables;
  std::string problem;  // Empty: all is well.
};

// Functions of NVVM (who a thread is, barriers) become calls of functions of this prefix and their name.
inline constexpr llvm::StringLiteral kIntrinsicPrefix = "baton.";

// Values of structs that blocks hand on become values of their members.
void split_aggregates(llvm::Module& module);

Structured structure(std::unique_ptr<llvm::Module> module, llvm::TargetMachine& machine);

}  // namespace baton::compiler_lite::codegen::vulkan
