#include "compiler-lite/codegen/cuda/target.hpp"

#include <mutex>

#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Target/TargetOptions.h"

namespace baton::compiler_lite::codegen::cuda {
namespace {

struct Arch {
  const char* number;
  const char* ptx;
};
constexpr Arch kArchs[] = {{"75", "65"}, {"80", "70"}, {"86", "71"}, {"87", "74"},
                           {"89", "78"}, {"90", "78"}, {"90a", "80"}};

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

std::optional<TargetInfo> target_info(llvm::StringRef arch) {
  llvm::StringRef number = arch;
  if (!number.consume_front("sm_")) return std::nullopt;
  for (const Arch& known : kArchs) {
    if (number == known.number) {
      const Features features{/*has_async_copy=*/number != "75"};
      return TargetInfo{arch.str(), std::string("+ptx") + known.ptx, "cuda-ptx-compute_" + number.str(), features};
    }
  }
  return std::nullopt;
}

std::string known_archs() {
  std::string text;
  for (const Arch& known : kArchs) text += (text.empty() ? "sm_" : ", sm_") + std::string(known.number);
  return text;
}

std::unique_ptr<llvm::TargetMachine> make_target_machine(const TargetInfo& info, std::string& message) {
  initialize_target();
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(kTriple.str(), message);
  if (!target) return nullptr;
  return std::unique_ptr<llvm::TargetMachine>(target->createTargetMachine(
      kTriple, info.arch, info.features, {}, std::nullopt, std::nullopt, llvm::CodeGenOptLevel::Aggressive));
}

}  // namespace baton::compiler_lite::codegen::cuda
