#include "compiler-lite/codegen/cuda/architectures.hpp"

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
  int64_t shared_kilobytes;  // That a block may have.
};
constexpr Arch kArchs[] = {{"75", "65", 64}, {"80", "70", 163}, {"86", "71", 99},  {"87", "74", 163},
                           {"89", "78", 99}, {"90", "78", 227}, {"90a", "80", 227}};

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
      const Features features{/*has_async_copy=*/number != "75", known.shared_kilobytes * 1024};
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
