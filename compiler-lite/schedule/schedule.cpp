#include "compiler-lite/schedule/schedule.hpp"

#include <limits>

#include "compiler-lite/codegen/lower_to_buffers.hpp"
#include "compiler-lite/codegen/resolve_dims.hpp"
#include "compiler-lite/dialects/flow/dialect.hpp"
#include "compiler-lite/dialects/iree_codegen/dialect.hpp"
#include "compiler-lite/dialects/stream/dialect.hpp"
#include "compiler-lite/dialects/util/dialect.hpp"
#include "compiler-lite/dialects/vm/dialect.hpp"
#include "compiler-lite/schedule/attention_groups.hpp"
#include "compiler-lite/schedule/custom_commands.hpp"
#include "compiler-lite/schedule/device_groups.hpp"
#include "compiler-lite/schedule/executable_loading.hpp"
#include "compiler-lite/schedule/executable_sources.hpp"
#include "compiler-lite/schedule/form_dispatches.hpp"
#include "compiler-lite/schedule/function_scheduler.hpp"
#include "compiler-lite/schedule/known_functions.hpp"
#include "compiler-lite/schedule/normalize.hpp"
#include "compiler-lite/schedule/on_cores.hpp"
#include "compiler-lite/schedule/outline.hpp"
#include "compiler-lite/schedule/program.hpp"
#include "compiler-lite/schedule/scatter_groups.hpp"
#include "compiler-lite/schedule/split_products.hpp"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

namespace baton::compiler_lite::schedule {
namespace {

using mlir::failed;
using mlir::failure;
using mlir::LogicalResult;
using mlir::ModuleOp;

// What nothing uses any more, and constants that stand twice.
LogicalResult clean_up(ModuleOp module) {
  mlir::PassManager passes(module.getContext());
  auto& functions = passes.nest<util::FuncOp>();
  functions.addPass(codegen::create_canonicalizer());
  functions.addPass(mlir::createCSEPass());
  auto& initializers = passes.nest<util::InitializerOp>();
  initializers.addPass(codegen::create_canonicalizer());
  initializers.addPass(mlir::createCSEPass());
  return passes.run(module);
}

bool is_blocks(hal::ExecutableTargetAttr target) {
  const codegen::Target* kind = codegen::find_target(target);
  return kind && kind->facts().tiling == codegen::Tiling::kBlocks;
}

// Whether all workgroups are blocks of threads.
bool are_blocks(llvm::ArrayRef<hal::ExecutableTargetAttr> targets) { return llvm::all_of(targets, is_blocks); }

Products products_of(llvm::ArrayRef<hal::ExecutableTargetAttr> targets) {
  if (are_blocks(targets)) return Products::kOnBlocks;
  return llvm::any_of(targets, is_blocks) ? Products::kAnywhere : Products::kOnCores;
}

// Whether all have them.
bool have_atomics(llvm::ArrayRef<hal::ExecutableTargetAttr> targets) {
  return !targets.empty() && llvm::all_of(targets, [](hal::ExecutableTargetAttr target) {
    const codegen::Target* kind = codegen::find_target(target);
    return kind && kind->facts().has_atomics;
  });
}

// What a workgroup has on each of them.
int64_t local_bytes(llvm::ArrayRef<hal::ExecutableTargetAttr> targets) {
  int64_t least = std::numeric_limits<int64_t>::max();
  for (const hal::ExecutableTargetAttr target : targets) {
    const codegen::Target* kind = codegen::find_target(target);
    least = std::min(least, kind ? kind->local_bytes(target) : 0);
  }
  return least;
}

// Whether all have code for a loop of which `group` does the turns.
bool have_code(llvm::ArrayRef<hal::ExecutableTargetAttr> targets, mlir::func::FuncOp group) {
  const mlir::ScopedDiagnosticHandler quiet(group.getContext(), [](mlir::Diagnostic&) { return mlir::success(); });
  return llvm::all_of(targets, [&](hal::ExecutableTargetAttr target) {
    const codegen::Target* kind = codegen::find_target(target);
    mlir::OwningOpRef<ModuleOp> kernels = ModuleOp::create(group.getLoc());
    return kind && mlir::succeeded(codegen::make_kernel(group, *kernels, kind->facts().tiling)) &&
           kind->takes_loops(target, std::move(kernels));
  });
}

bool any_is_blocks(llvm::ArrayRef<hal::ExecutableTargetAttr> targets) { return llvm::any_of(targets, is_blocks); }

struct FormDispatchesPass : mlir::PassWrapper<FormDispatchesPass, mlir::OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(FormDispatchesPass)
  llvm::StringRef getArgument() const override { return "form-dispatches"; }
  llvm::StringRef getDescription() const override { return "Groups tensor operations into dispatches"; }
  void getDependentDialects(mlir::DialectRegistry& registry) const override { register_schedule(registry); }
  void runOnOperation() override {
    if (failed(choose_functions(getOperation(), ScheduleOptions())) ||
        failed(normalize_program(getOperation(), ScheduleOptions())) ||
        failed(create_dispatches(getOperation(), ScheduleOptions())))
      signalPassFailure();
  }
};

struct SchedulePass : mlir::PassWrapper<SchedulePass, mlir::OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(SchedulePass)
  SchedulePass() = default;
  SchedulePass(const SchedulePass& other) : mlir::PassWrapper<SchedulePass, mlir::OperationPass<ModuleOp>>(other) {}
  llvm::StringRef getArgument() const override { return "schedule"; }
  llvm::StringRef getDescription() const override { return "Turns work on tensors into recordings"; }
  void getDependentDialects(mlir::DialectRegistry& registry) const override { register_schedule(registry); }
  void runOnOperation() override {
    std::string dump;
    ScheduleOptions options;
    options.settings.object_search_paths.assign(object_search_paths.begin(), object_search_paths.end());
    if (dump_schedule) options.dump = &dump;
    if (failed(schedule(getOperation(), options))) signalPassFailure();
    llvm::outs() << dump;
  }
  Option<bool> dump_schedule{*this, "dump-schedule", llvm::cl::desc("Print recordings, memory plans and barriers"),
                             llvm::cl::init(false)};
  ListOption<std::string> object_search_paths{*this, "object-search-paths",
                                              llvm::cl::desc("Where objects are looked for")};
};

}  // namespace

void register_schedule(mlir::DialectRegistry& registry) {
  registry.insert<flow::FlowDialect, hal::HalDialect, util::UtilDialect, vm::VMDialect>();
  registry.insert<iree_codegen::IREECodegenDialect, stream::StreamDialect>();
  codegen::register_codegen(registry);
  for (const codegen::Target* target : codegen::all_targets()) target->register_dialects(registry);
}

LogicalResult choose_functions(ModuleOp module, const ScheduleOptions& options) {
  const auto targets = find_targets(module, options);
  if (have_atomics(targets)) return choose_functions(module, Workgroups::kWithAtomics);
  const Products products = products_of(targets);
  if (products == Products::kOnBlocks) return choose_functions(module, Workgroups::kOnBlocks);
  return choose_functions(module, products == Products::kOnCores ? Workgroups::kOnCores : Workgroups::kAny);
}

LogicalResult normalize_program(ModuleOp module, const ScheduleOptions& options) {
  const auto targets = find_targets(module, options);
  const Products products = products_of(targets);
  outline_known_functions(module, products == Products::kOnBlocks, local_bytes(targets));
  if (have_atomics(targets)) outline_scatters(module);
  if (failed(outline_externs(module)) || failed(outline_regions(module))) return failure();
  if (failed(convert_streamable_imports(module))) return failure();
  // Accesses of kernels that choose among memories, or have instructions of their own for them, can't be checked; those of
  // their parts can.
  const bool sanitizes = options.settings.sanitize;
  if (sanitizes) return normalize(module, products, /*has_room=*/nullptr);
  const auto has_room = [&](mlir::func::FuncOp group) { return have_code(targets, group); };
  if (failed(normalize(module, products, has_room))) return failure();
  mark_attention(module, [&](const codegen::Attention& attention) {
    return llvm::all_of(targets, [&](hal::ExecutableTargetAttr target) {
      const codegen::Target* kind = codegen::find_target(target);
      return kind && kind->takes_attention(target, attention);
    });
  });
  return mlir::success();
}

LogicalResult create_dispatches(ModuleOp module, const ScheduleOptions& options, const LibraryOptions& libraries) {
  if (failed(mark_library_work(module, libraries))) return failure();
  const bool on_blocks = are_blocks(find_targets(module, options));
  if (on_blocks && failed(split_products(module))) return failure();
  if (failed(form_dispatches(module, on_blocks))) return failure();
  mark_needless(module);
  return resolve_sizes(module);
}

LogicalResult show_kernels(ModuleOp module) {
  auto groups = module.lookupSymbol<ModuleOp>(kGroupModule);
  if (!groups) return mlir::success();
  mlir::OwningOpRef<ModuleOp> kernels = ModuleOp::create(groups.getLoc(), kGroupModule);
  for (auto group : groups.getOps<mlir::func::FuncOp>()) {
    if (failed(codegen::make_kernel(group, *kernels))) return failure();
  }
  mlir::OpBuilder(groups).insert(kernels.release());
  groups.erase();
  return mlir::success();
}

LogicalResult schedule(ModuleOp module, const ScheduleOptions& options) {
  if (failed(choose_functions(module, options)) || failed(normalize_program(module, options)) ||
      failed(create_dispatches(module, options))) {
    return failure();
  }
  return schedule_dispatches(module, options);
}

LogicalResult schedule_dispatches(ModuleOp module, const ScheduleOptions& options) {
  const placement::Devices devices(module);
  mlir::FailureOr<placement::Assignment> assignment = placement::Assignment();
  if (devices.several() && failed(assignment = placement::assign(module, devices))) return failure();
  split_groups(module, devices, *assignment, options);
  Executables executables;
  if (failed(compile_executables(module, options, executables))) return failure();
  Program program(module, executables, devices, *assignment, any_is_blocks(find_targets(module, options)),
                  options.dump);
  if (failed(program.convert_globals())) return failure();
  for (util::FuncOp function : llvm::make_early_inc_range(module.getOps<util::FuncOp>())) {
    if (function.isExternal()) continue;
    if (failed(schedule_function(function, program))) return failure();
  }
  // Beyond this point no tensor is left.
  erase_sources(module, executables);
  write_rows(module, executables);
  if (failed(declare_custom_commands(module))) return failure();
  if (failed(program.finish())) return failure();
  return clean_up(module);
}

mlir::FailureOr<std::string> dump_schedule(ModuleOp module, ScheduleOptions options) {
  mlir::OwningOpRef<ModuleOp> copy = module.clone();
  std::string text;
  options.dump = &text;
  if (failed(schedule(*copy, options))) return failure();
  return text;
}

void register_schedule_passes() {
  mlir::PassRegistration<FormDispatchesPass>();
  mlir::PassRegistration<SchedulePass>();
}

}  // namespace baton::compiler_lite::schedule
