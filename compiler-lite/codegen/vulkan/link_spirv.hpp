// A kernel's SPIR-V and the libraries that it calls become one module, by SPIRV-Tools, which Baton may be built without.
#pragma once

#include <string>
#include <vector>

#include "llvm/ADT/ArrayRef.h"

namespace baton::compiler_lite::codegen::vulkan {

// The first module calls what the others export. All that is called is inlined, what is not is gone, and what is left is
// validated for Vulkan 1.2. `keeps_imports`: what no module exports is found when the program is loaded, and stays
// declared; nothing is inlined then. `problem`: empty, or why there is no code.
std::vector<uint32_t> link_spirv(llvm::ArrayRef<std::vector<uint32_t>> modules, bool keeps_imports,
                                 std::string& problem);

// What is wrong with a library; empty: nothing. What is not valid must not be linked: SPIRV-Tools trusts its input there.
std::string validate_library(const std::vector<uint32_t>& words);

}  // namespace baton::compiler_lite::codegen::vulkan
