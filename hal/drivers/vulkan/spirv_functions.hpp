// SpirvFunctions: a module of SPIR-V as a library, whose functions the kernels of programs may call.
//
// It says by linkage what it exports; one that exports nothing is taken for a shader compiler's, and every function has its
// name in the source ("scale(f1;" is `scale`).
// Threads: a plain value.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "hal/spirv_words.hpp"

namespace baton::hal::drivers::vulkan {

struct SpirvFunction {
  std::vector<SpirvInstruction> body;  // From the function's first instruction to its end.
  bool is_declared = false;            // It has no body.
};

struct SpirvFunctions {
  std::string path;             // For messages.
  std::vector<uint32_t> words;  // The instructions point into it.
  uint32_t version = 0;
  uint32_t addressing = 0, memory_model = 0;
  std::set<uint32_t> capabilities;
  std::set<std::string> extensions;
  std::map<uint32_t, std::string> instruction_sets;
  std::vector<SpirvInstruction> decorations;
  std::vector<SpirvInstruction> declarations;  // Types and constants.
  std::set<uint32_t> variables;                // Outside of functions: nobody can have them.
  std::map<uint32_t, SpirvFunction> functions;
  std::map<std::string, uint32_t> exported;
};

// INVALID_ARGUMENT for what is no module, or exports nothing.
Result<SpirvFunctions> read_functions(std::string_view path, std::span<const std::byte> code);

}  // namespace baton::hal::drivers::vulkan
