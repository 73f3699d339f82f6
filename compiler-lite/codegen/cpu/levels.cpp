#include "compiler-lite/codegen/cpu/levels.hpp"

#include <mutex>

#include "base/text.hpp"
#include "compiler-lite/codegen/cpu/library_layout.hpp"
#include "llvm/ADT/STLExtras.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Target/TargetOptions.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"

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

using SubtargetOwner = std::unique_ptr<llvm::MCSubtargetInfo>;

const char* architecture_name(Architecture architecture) {
  return architecture == Architecture::kX86_64 ? "x86_64" : "aarch64";
}

// Null when this LLVM was built without the architecture.
SubtargetOwner subtarget_of(Architecture architecture, llvm::StringRef cpu, llvm::StringRef features) {
  initialize_targets();
  const char* triple = architecture == Architecture::kX86_64 ? "x86_64-none-elf" : "aarch64-none-elf";
  std::string message;
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(triple, message);
  return SubtargetOwner(target ? target->createMCSubtargetInfo(triple, cpu, features) : nullptr);
}

std::optional<Architecture> host_architecture() {
  const llvm::Triple host(llvm::sys::getProcessTriple());
  if (host.getArch() == llvm::Triple::x86_64) return Architecture::kX86_64;
  if (host.isAArch64(64)) return Architecture::kAarch64;
  return std::nullopt;
}

bool is_feature(const llvm::MCSubtargetInfo& all, llvm::StringRef name) {
  return llvm::any_of(all.getAllProcessorFeatures(), [&](const auto& each) { return name == each.Key; });
}

// "+avx2,-sse4a": those that LLVM knows.
std::string host_features(const llvm::MCSubtargetInfo& all) {
  std::string text;
  for (const auto& feature : llvm::sys::getHostCPUFeatures()) {
    if (!is_feature(all, feature.getKey())) continue;
    text += (text.empty() ? "" : ",") + std::string(feature.getValue() ? "+" : "-") + feature.getKey().str();
  }
  return text;
}

// The first one that is not written as a feature is, or that LLVM doesn't know.
std::string unknown_feature(const llvm::MCSubtargetInfo& all, llvm::StringRef features) {
  llvm::SmallVector<llvm::StringRef> each;
  features.split(each, ',', -1, /*KeepEmpty=*/false);
  for (const llvm::StringRef feature : each) {
    const bool is_signed = feature.starts_with("+") || feature.starts_with("-");
    if (!is_signed || !is_feature(all, feature.drop_front())) return feature.str();
  }
  return "";
}

// Of 64 bits, as everything here is.
bool is_processor(Architecture architecture, const llvm::MCSubtargetInfo& all, llvm::StringRef name) {
  if (!all.isCPUStringValid(name)) return false;
  return architecture == Architecture::kAarch64 || subtarget_of(architecture, name, "")->checkFeatures("+64bit");
}

std::string processors_of(Architecture architecture, const llvm::MCSubtargetInfo& all) {
  std::string names = "generic";
  for (const auto& each : all.getAllProcessorDescriptions()) {
    const llvm::StringRef name = each.Key;
    if (name != "generic" && is_processor(architecture, all, name)) names += ", " + name.str();
  }
  return names;
}

bool is_host_name(llvm::StringRef name) { return name == "host" || name == "native"; }
const char* generic_name(Architecture architecture) {
  return architecture == Architecture::kX86_64 ? "x86-64" : "generic";
}

// This machine's, with what `features` change.
NamedProcessor host_with(const llvm::MCSubtargetInfo& all, const std::string& features) {
  const llvm::StringRef name = llvm::sys::getHostCPUName();
  // Of one that is newer than LLVM its features tell.
  return {all.isCPUStringValid(name) ? name.str() : "generic", host_features(all) + "," + features};
}

// Empty where there is such a processor and all its features.
std::string problem_of(Architecture architecture, const llvm::MCSubtargetInfo& all, const NamedProcessor& processor) {
  if (!is_processor(architecture, all, processor.name)) {
    return text("There is no processor '", processor.name, "' of ", architecture_name(architecture), "; there are ",
                processors_of(architecture, all), "; host and native are this machine's.");
  }
  const std::string unknown = unknown_feature(all, processor.features);
  if (unknown.empty()) return "";
  return text("There is no feature '", unknown, "' of processors of ", architecture_name(architecture),
              "; a feature is written +name, or -name where it is not there.");
}

Level level_with(const llvm::MCSubtargetInfo& processor) {
  if (!processor.checkFeatures("+avx2,+fma,+bmi,+bmi2,+f16c,+lzcnt,+movbe")) return Level::kBaseline;
  const bool has_avx512 = processor.checkFeatures("+avx512f,+avx512bw,+avx512cd,+avx512dq,+avx512vl");
  return has_avx512 ? Level::kAvx512 : Level::kAvx2;
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

Level host_level() { return level_of(Architecture::kX86_64, {"host", ""}).level.value_or(Level::kBaseline); }

LevelOfProcessor level_of(Architecture architecture, const NamedProcessor& processor) {
  const bool is_host = is_host_name(processor.name), has_host_features = processor.features == "host";
  if ((is_host || has_host_features) && architecture != host_architecture()) return {};
  if (has_host_features && !is_host && !processor.name.empty()) {
    return {{}, "The features of this machine's processor are not those of '" + processor.name + "'."};
  }
  const SubtargetOwner all = subtarget_of(architecture, "", "");
  if (!all) return {{}, text("This LLVM was built without code for ", architecture_name(architecture), ".")};
  NamedProcessor wanted = processor;
  if (has_host_features) wanted.features.clear();
  if (is_host || has_host_features) wanted = host_with(*all, wanted.features);
  if (wanted.name.empty() || wanted.name == "generic") wanted.name = generic_name(architecture);
  std::string problem = problem_of(architecture, *all, wanted);
  if (!problem.empty()) return {{}, std::move(problem)};
  if (architecture == Architecture::kAarch64) return {Level::kBaseline, ""};
  return {level_with(*subtarget_of(architecture, wanted.name, wanted.features)), ""};
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
