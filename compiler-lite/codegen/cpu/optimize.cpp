#include "compiler-lite/codegen/cpu/optimize.hpp"

#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Triple.h"

namespace baton::compiler_lite::codegen::cpu {
namespace {

// There is no C library: loops must not become calls of one.
llvm::TargetLibraryInfoImpl make_library_info(const llvm::Module& module) {
  llvm::TargetLibraryInfoImpl info{llvm::Triple(module.getTargetTriple())};
  info.disableAllFunctions();
  return info;
}

// Every function gets the same target: a callee of other features, or with other ideas of builtins, isn't inlined.
void set_target_attributes(llvm::Module& module, const TargetInfo& target) {
  for (llvm::Function& function : module) {
    if (function.isIntrinsic()) continue;
    for (const char* name : {"target-cpu", "target-features", "tune-cpu", "min-legal-vector-width", "frame-pointer",
                             "probe-stack", "stack-protector-buffer-size"}) {
      function.removeFnAttr(name);
    }
    for (const auto kind : {llvm::Attribute::StackProtect, llvm::Attribute::StackProtectStrong,
                            llvm::Attribute::StackProtectReq, llvm::Attribute::OptimizeNone}) {
      function.removeFnAttr(kind);
    }
    if (!function.isDeclaration() && !function.hasFnAttribute(llvm::Attribute::AlwaysInline) &&
        function.hasFnAttribute(llvm::Attribute::NoInline)) {
      // -O0 bitcode says noinline of everything.
      function.removeFnAttr(llvm::Attribute::NoInline);
    }
    function.addFnAttr("target-cpu", target.cpu);
    if (!target.features.empty()) function.addFnAttr("target-features", target.features);
    function.addFnAttr("no-builtins");
    function.addFnAttr("prefer-vector-width", std::to_string(target.vector_bytes * 8));
    function.addFnAttr(llvm::Attribute::NoUnwind);
  }
}

}  // namespace

std::string link_bitcode(llvm::Module& module, llvm::ArrayRef<Bitcode> bitcode) {
  for (const Bitcode& part : bitcode) {
    llvm::Expected<std::unique_ptr<llvm::Module>> parsed =
        llvm::parseBitcodeFile(llvm::MemoryBufferRef(part.bytes, part.name), module.getContext());
    if (!parsed) return "The bitcode '" + part.name + "' can't be read: " + llvm::toString(parsed.takeError()) + ".";
    (*parsed)->setTargetTriple(module.getTargetTriple());
    (*parsed)->setDataLayout(module.getDataLayout());
    // Module flags are about code models and debug formats of another compilation.
    if (llvm::NamedMDNode* flags = (*parsed)->getModuleFlagsMetadata()) (*parsed)->eraseNamedMetadata(flags);
    if (llvm::Linker::linkModules(module, std::move(*parsed), llvm::Linker::LinkOnlyNeeded)) {
      return "The bitcode '" + part.name + "' can't be linked.";
    }
  }
  return {};
}

void make_private(llvm::Module& module, const std::vector<std::string>& exported) {
  for (llvm::GlobalValue& value : module.global_values()) {
    if (value.isDeclaration() || llvm::is_contained(exported, value.getName()) || value.hasLocalLinkage()) continue;
    if (auto* object = llvm::dyn_cast<llvm::GlobalObject>(&value)) object->setComdat(nullptr);
    value.setVisibility(llvm::GlobalValue::DefaultVisibility);
    value.setLinkage(llvm::GlobalValue::InternalLinkage);
  }
}

void optimize(llvm::Module& module, const TargetInfo& target, llvm::TargetMachine& machine) {
  set_target_attributes(module, target);
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager calls;
  llvm::ModuleAnalysisManager modules;
  llvm::PipelineTuningOptions tuning;
  tuning.LoopVectorization = true;
  tuning.SLPVectorization = true;
  tuning.LoopInterleaving = true;
  tuning.LoopUnrolling = true;
  llvm::PassBuilder builder(&machine, tuning);
  // Before the default, which would win otherwise.
  functions.registerPass([&] { return llvm::TargetLibraryAnalysis(make_library_info(module)); });
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(calls);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, calls, modules);
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O3).run(module, modules);
}

llvm::SmallVector<char, 0> emit_object(llvm::Module& module, llvm::TargetMachine& machine, bool as_text) {
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::legacy::PassManager passes;
  passes.add(new llvm::TargetLibraryInfoWrapperPass(make_library_info(module)));
  const auto kind = as_text ? llvm::CodeGenFileType::AssemblyFile : llvm::CodeGenFileType::ObjectFile;
  if (machine.addPassesToEmitFile(passes, stream, nullptr, kind)) return {};
  passes.run(module);
  return bytes;
}

}  // namespace baton::compiler_lite::codegen::cpu
