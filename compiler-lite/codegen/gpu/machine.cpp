#include "compiler-lite/codegen/gpu/machine.hpp"

#include <mutex>

#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Target/TargetOptions.h"

namespace baton::compiler_lite::codegen::gpu {
namespace {

void initialize_target() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
  });
}

}  // namespace

Machine machine_of(const std::string& arch, const std::string& features) {
  Machine machine{"nvptx64-nvidia-cuda", arch, features};
  machine.vector_bytes = 16;
  machine.has_fma = machine.has_rounding = true;
  machine.joins_operations = true;
  machine.vectorizes = false;
  return machine;
}

std::unique_ptr<llvm::TargetMachine> make_target_machine(const Machine& machine, std::string& message) {
  initialize_target();
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(machine.triple, message);
  if (!target) return nullptr;
  return std::unique_ptr<llvm::TargetMachine>(target->createTargetMachine(machine.triple, machine.cpu, machine.features,
                                                                          {}, std::nullopt, std::nullopt,
                                                                          llvm::CodeGenOptLevel::Aggressive));
}

}  // namespace baton::compiler_lite::codegen::gpu
