#include "compiler-lite/codegen/cpu/levels.hpp"

#include <mutex>

#include "compiler-lite/codegen/cpu/library_layout.hpp"
#include "llvm/ADT/STLExtras.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Target/TargetOptions.h"
#include "llvm/TargetParser/Host.h"

namespace baton::compiler_lite::codegen::cpu {
namespace {

void initialize_targets() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    LLVMInitializeX86AsmParser();  // User bitcode may hold inline assembly.
    LLVMInitializeAArch64TargetInfo();
    LLVMInitializeAArch64Target();
    LLVMInitializeAArch64TargetMC();
    LLVMInitializeAArch64AsmPrinter();
    LLVMInitializeAArch64AsmParser();
  });
}

}  // namespace

TargetInfo target_info(Architecture architecture, Level level) {
  if (architecture == Architecture::kAarch64) {
    return {{"aarch64-none-elf", "generic", "+neon", 16, true, true}, "_neon", 32, 0};
  }
  const std::string triple = "x86_64-none-elf";
  switch (level) {
    case Level::kBaseline: return {{triple, "x86-64", "", 16, false, false}, "_baseline", 16, 0};
    case Level::kAvx2: return {{triple, "x86-64-v3", "", 32, true, true}, "_avx2", 16, layout::kProcessorAvx2};
    case Level::kAvx512: break;
  }
  // The level's default tuning avoids 512-bit registers, for processors of 2017.
  return {{triple, "x86-64-v4", "-prefer-256-bit", 64, true, true}, "_avx512", 32, layout::kProcessorAvx512};
}

std::vector<Level> levels_of(const TargetOptions& options) {
  if (options.architecture == Architecture::kAarch64) return {Level::kBaseline};
  if (!options.levels.empty()) return options.levels;
  return {Level::kBaseline, Level::kAvx2, Level::kAvx512};
}

Level host_level() {
  const llvm::StringMap<bool> features = llvm::sys::getHostCPUFeatures();
  const auto has = [&](llvm::ArrayRef<llvm::StringRef> wanted) {
    return llvm::all_of(wanted, [&](llvm::StringRef name) { return features.lookup(name); });
  };
  if (!has({"avx2", "fma", "bmi", "bmi2", "f16c", "lzcnt", "movbe"})) return Level::kBaseline;
  return has({"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}) ? Level::kAvx512 : Level::kAvx2;
}

std::string format_name(Architecture architecture) {
  return architecture == Architecture::kX86_64 ? "embedded-elf-x86_64" : "embedded-elf-arm_64";
}

std::unique_ptr<llvm::TargetMachine> make_target_machine(const TargetInfo& info, std::string& message) {
  initialize_targets();
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(info.triple, message);
  if (!target) return nullptr;
  llvm::TargetOptions options;
  options.FunctionSections = true;
  options.DataSections = true;
  options.UniqueSectionNames = true;
  return std::unique_ptr<llvm::TargetMachine>(target->createTargetMachine(info.triple, info.cpu, info.features, options,
                                                                          llvm::Reloc::PIC_, llvm::CodeModel::Small,
                                                                          llvm::CodeGenOptLevel::Aggressive));
}

}  // namespace baton::compiler_lite::codegen::cpu
