// GLSL to SPIR-V, by glslangValidator or glslang of the PATH: the compiler of shaders is a program, looked for when a source
// is there.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "llvm/ADT/StringRef.h"

namespace baton::compiler_lite::codegen::vulkan {

// All functions of the source, called or not, for Vulkan 1.2. A source without main gets one. `problem`: empty, or why there
// is no code.
std::vector<uint32_t> compile_glsl(llvm::StringRef source, llvm::StringRef path, std::string& problem);

}  // namespace baton::compiler_lite::codegen::vulkan
