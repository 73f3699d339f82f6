// For the compiler of a wheel, which LLVM's static libraries are linked into (python/build_wheel): LLD names every target
// that LLVM was built with, and Polly. Baton makes code for x86-64, AArch64 and NVPTX; of the others nothing is registered.
#include <llvm/Passes/PassPlugin.h>

#define LEFT_OUT(target)                                  \
  extern "C" void LLVMInitialize##target##TargetInfo() {} \
  extern "C" void LLVMInitialize##target##Target() {}     \
  extern "C" void LLVMInitialize##target##TargetMC() {}   \
  extern "C" void LLVMInitialize##target##AsmPrinter() {} \
  extern "C" void LLVMInitialize##target##AsmParser() {}  \
  extern "C" void LLVMInitialize##target##Disassembler() {}

LEFT_OUT(AMDGPU)
LEFT_OUT(ARM)
LEFT_OUT(AVR)
LEFT_OUT(BPF)
LEFT_OUT(Hexagon)
LEFT_OUT(Lanai)
LEFT_OUT(LoongArch)
LEFT_OUT(M68k)
LEFT_OUT(MSP430)
LEFT_OUT(Mips)
LEFT_OUT(PowerPC)
LEFT_OUT(RISCV)
LEFT_OUT(Sparc)
LEFT_OUT(SystemZ)
LEFT_OUT(VE)
LEFT_OUT(WebAssembly)
LEFT_OUT(XCore)
LEFT_OUT(Xtensa)

llvm::PassPluginLibraryInfo getPollyPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "Polly", "left out", [](llvm::PassBuilder&) {}};
}
