// Bitcode of the user and of Baton becomes part of a module of kernels.
#pragma once

#include <string>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace llvm {
class Module;
}

namespace baton::compiler_lite::codegen {

struct Bitcode {
  std::string name;  // For messages.
  llvm::StringRef bytes;
};

// Links what `module` needs of `bitcode` into it; empty or what went wrong. Linked functions take the target of the
// module, so that nothing keeps them from being inlined.
std::string link_bitcode(llvm::Module& module, llvm::ArrayRef<Bitcode> bitcode);

// Everything but what is `exported` becomes private to the module.
void make_private(llvm::Module& module, const std::vector<std::string>& exported);

}  // namespace baton::compiler_lite::codegen
