#include "compiler-lite/codegen/llvm/builtins.hpp"

#include "llvm/TargetParser/Triple.h"

// The files are found by the assembler through its include path, which CMakeLists.txt gives.
#define BATON_EMBED(name, file)                                                                         \
  __asm__(".section .rodata\n.balign 16\n.globl baton_" #name "\n.hidden baton_" #name "\nbaton_" #name \
          ":\n"                                                                                         \
          ".incbin \"" file "\"\n.globl baton_" #name "_end\n.hidden baton_" #name "_end\nbaton_" #name \
          "_end:\n.byte 0\n.text\n");                                                                   \
  extern "C" const char baton_##name[], baton_##name##_end[]

BATON_EMBED(math_x86_64, "math_x86_64.bc");
BATON_EMBED(math_x86_64_fma, "math_x86_64_fma.bc");
BATON_EMBED(math_aarch64, "math_aarch64.bc");
BATON_EMBED(math_nvptx64, "math_nvptx64.bc");
BATON_EMBED(calls_x86_64, "calls_x86_64.o");
BATON_EMBED(calls_aarch64, "calls_aarch64.o");
BATON_EMBED(c_math_x86_64, "c_math_x86_64.o");
BATON_EMBED(c_math_aarch64, "c_math_aarch64.o");

namespace baton::compiler_lite::codegen {
namespace {

llvm::StringRef between(const char* begin, const char* end) { return {begin, static_cast<size_t>(end - begin)}; }

}  // namespace

llvm::StringRef math_bitcode(const Machine& target) {
  const llvm::Triple triple(target.triple);
  if (triple.isNVPTX()) return between(baton_math_nvptx64, baton_math_nvptx64_end);
  if (triple.isAArch64()) return between(baton_math_aarch64, baton_math_aarch64_end);
  if (!triple.isX86()) return {};
  return target.has_fma ? between(baton_math_x86_64_fma, baton_math_x86_64_fma_end)
                        : between(baton_math_x86_64, baton_math_x86_64_end);
}

llvm::StringRef call_object(llvm::StringRef triple) {
  return llvm::Triple(triple).isAArch64() ? between(baton_calls_aarch64, baton_calls_aarch64_end)
                                          : between(baton_calls_x86_64, baton_calls_x86_64_end);
}

llvm::StringRef c_math_object(llvm::StringRef triple) {
  return llvm::Triple(triple).isAArch64() ? between(baton_c_math_aarch64, baton_c_math_aarch64_end)
                                          : between(baton_c_math_x86_64, baton_c_math_x86_64_end);
}

}  // namespace baton::compiler_lite::codegen
