// link_elf: objects in memory to a freestanding shared object in memory, by LLD in this process, and in a child where an object is the user's.
#pragma once

#include <string>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace baton::compiler_lite::codegen::cpu {

struct LinkInput {
  std::string name;  // For messages.
  llvm::StringRef bytes;
  bool is_from_user = false;
};

struct LinkResult {
  bool linked = false;
  std::vector<char> bytes;
  std::string messages;                // What LLD says, with the inputs' names.
  std::vector<std::string> undefined;  // Symbols without a definition.
};

// Only `exported` is visible in the result; what it doesn't need is left out.
LinkResult link_elf(llvm::ArrayRef<LinkInput> inputs, llvm::StringRef exported);

}  // namespace baton::compiler_lite::codegen::cpu
