// From LLVM IR to machine code or its text, in memory.
#pragma once

#include "compiler-lite/codegen/llvm/machine.hpp"
#include "llvm/ADT/SmallVector.h"

namespace llvm {
class Module;
class TargetMachine;
}  // namespace llvm

namespace baton::compiler_lite::codegen {

void optimize(llvm::Module& module, const Machine& target, llvm::TargetMachine& machine);
// An object; assembly text with `as_text`.
llvm::SmallVector<char, 0> emit_object(llvm::Module& module, llvm::TargetMachine& machine, bool as_text = false);

}  // namespace baton::compiler_lite::codegen
