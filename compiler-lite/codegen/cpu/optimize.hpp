// From LLVM IR to an object file in memory: linked bitcode, optimization, machine code.
#pragma once

#include <string>
#include <vector>

#include "compiler-lite/codegen/cpu/target.hpp"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

namespace llvm {
class Module;
class TargetMachine;
}  // namespace llvm

namespace baton::compiler_lite::codegen::cpu {

struct Bitcode {
  std::string name;  // For messages.
  llvm::StringRef bytes;
};

// Links what `module` needs of `bitcode` into it; empty or what went wrong. Linked functions take the target of the
// module, so that nothing keeps them from being inlined.
std::string link_bitcode(llvm::Module& module, llvm::ArrayRef<Bitcode> bitcode);

// Everything but what is `exported` becomes private to the module.
void make_private(llvm::Module& module, const std::vector<std::string>& exported);

void optimize(llvm::Module& module, const TargetInfo& target, llvm::TargetMachine& machine);
// Assembly text instead of an object with `as_text`.
llvm::SmallVector<char, 0> emit_object(llvm::Module& module, llvm::TargetMachine& machine, bool as_text = false);

}  // namespace baton::compiler_lite::codegen::cpu
