#include "compiler-lite/codegen/llvm/optimize.hpp"

#include "compiler-lite/codegen/llvm/bool_bytes.hpp"
#include "compiler-lite/codegen/llvm/half_extremes.hpp"
#include "compiler-lite/codegen/llvm/masked_logic.hpp"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Triple.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Utils/LoopUtils.h"

namespace baton::compiler_lite::codegen {
namespace {

// There is no C library: loops must not become calls of one.
llvm::TargetLibraryInfoImpl make_library_info(const llvm::Module& module) {
  llvm::TargetLibraryInfoImpl info{llvm::Triple(module.getTargetTriple())};
  info.disableAllFunctions();
  return info;
}

// Every function gets the same target: a callee of other features, or with other ideas of builtins, isn't inlined.
void set_target_attributes(llvm::Module& module, const Machine& target) {
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

// Where threads wait for each other stays a place of its own. Of two that end the ways into a loop LLVM would make one, and
// with it of what stands before them under a condition, so that threads came into the loop at different places.
void keep_barriers_apart(llvm::Module& module) {
  for (llvm::Function& function : module) {
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      auto* const call = llvm::dyn_cast<llvm::CallBase>(&instruction);
      if (call && call->isConvergent()) call->addFnAttr(llvm::Attribute::NoMerge);
    }
  }
}

// Marks of loops: LLVM's, and ours for those that may be unrolled once they are vectorized.
constexpr llvm::StringLiteral kNotUnrolled = "llvm.loop.unroll.disable", kReleased = "baton.loop.released";
// Turns of an innermost loop that may be written out one by one: fewer than a vector or two takes.
constexpr unsigned kFewTurns = 8;

// Left alone, LLVM writes out loops of a constant count, inner and then outer ones, as long as what comes out is small
// by its own reckoning, which takes a vectorized loop for small: compiling takes seconds, and some are too large to
// become vectors. So outer loops stay loops, and inner ones until they are vectorized.
struct KeepLoops : llvm::PassInfoMixin<KeepLoops> {
  llvm::PreservedAnalyses run(llvm::Loop& loop, llvm::LoopAnalysisManager&, llvm::LoopStandardAnalysisResults& known,
                              llvm::LPMUpdater&) {
    const unsigned turns = known.SE.getSmallConstantTripCount(&loop);
    const bool few = loop.isInnermost() && turns > 0 && turns <= kFewTurns;
    if (!few && !llvm::findOptionMDForLoop(&loop, kNotUnrolled)) {
      llvm::addStringMetadataToLoop(&loop, kNotUnrolled.data(), 1);
      if (loop.isInnermost()) llvm::addStringMetadataToLoop(&loop, kReleased.data(), 1);
    }
    return llvm::PreservedAnalyses::all();
  }
};

struct ReleaseLoops : llvm::PassInfoMixin<ReleaseLoops> {
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses) {
    for (llvm::Loop* loop : analyses.getResult<llvm::LoopAnalysis>(function).getLoopsInPreorder()) {
      if (!llvm::findOptionMDForLoop(loop, kReleased)) continue;
      llvm::MDNode* id =
          llvm::makePostTransformationMetadata(function.getContext(), loop->getLoopID(), {kNotUnrolled, kReleased}, {});
      loop->setLoopID(id);
    }
    return llvm::PreservedAnalyses::all();
  }
};

}  // namespace

void optimize(llvm::Module& module, const Machine& target, llvm::TargetMachine& machine) {
  set_target_attributes(module, target);
  keep_barriers_apart(module);
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager calls;
  llvm::ModuleAnalysisManager modules;
  llvm::PipelineTuningOptions tuning;
  tuning.LoopVectorization = true;
  tuning.SLPVectorization = target.joins_operations;
  tuning.LoopInterleaving = true;
  tuning.LoopUnrolling = true;
  llvm::PassBuilder builder(&machine, tuning);
  builder.registerLateLoopOptimizationsEPCallback(
      [](llvm::LoopPassManager& passes, llvm::OptimizationLevel) { passes.addPass(KeepLoops()); });
  builder.registerVectorizerStartEPCallback([&](llvm::FunctionPassManager& passes, llvm::OptimizationLevel) {
    passes.addPass(ReleaseLoops());
    if (target.vectorizes) passes.addPass(BoolBytes());
  });
  // Before the default, which would win otherwise.
  functions.registerPass([&] { return llvm::TargetLibraryAnalysis(make_library_info(module)); });
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(calls);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, calls, modules);
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O3).run(module, modules);
  if (machine.getTargetTriple().isX86()) widen_half_extremes(module);
  constexpr unsigned kAvx512Bytes = 64;
  if (target.vector_bytes == kAvx512Bytes) keep_masks_from_logic(module);
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

}  // namespace baton::compiler_lite::codegen
