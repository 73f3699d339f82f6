#include "compiler-lite/pipeline.hpp"

#include <functional>

#include "compiler-lite/codegen/resolve_dims.hpp"
#include "compiler-lite/lower/lower.hpp"
#include "compiler-lite/placement/place.hpp"
#include "compiler-lite/schedule/schedule.hpp"
#include "compiler-lite/targets.hpp"
#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

namespace baton::compiler_lite {

using namespace mlir;  // NOLINT: this file lists MLIR's passes.

namespace {

using Step = std::function<LogicalResult(ModuleOp)>;

// A function of lower/ as a pass, so that it is printed and timed like upstream's.
class StepPass final : public PassWrapper<StepPass, OperationPass<ModuleOp>> {
 public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(StepPass)
  StepPass(const char* name, Step step) : name_(name), step_(std::move(step)) {}
  StringRef getArgument() const override { return name_; }
  StringRef getName() const override { return name_; }
  void runOnOperation() override {
    if (failed(step_(getOperation()))) signalPassFailure();
  }

 private:
  const char* name_;
  Step step_;
};

LogicalResult remove_unused_calls(ModuleOp module) {
  lower::remove_unused_calls(module);
  return success();
}

LogicalResult outline_initializers(ModuleOp module) {
  lower::outline_initializers(module);
  return success();
}

LogicalResult host_branches(ModuleOp module) {
  lower::host_branches(module);
  return success();
}

// Phases that are about the insides of executables.
constexpr const char* kKernelPhases[] = {"executable-sources", "executable-configurations", "executable-targets"};

bool shows_kernels(const CompileOptions& options) {
  return llvm::is_contained(kKernelPhases, StringRef(options.compile_to));
}

class Pipeline {
 public:
  Pipeline(ModuleOp module, const CompileOptions& options)
      : passes_(module.getContext(), ModuleOp::getOperationName()), options_(options) {
    if (options.print_ir_after_all || options.print_ir_before_all || options.print_ir_after_change) {
      passes_.enableIRPrinting(
          [&](Pass*, Operation*) { return options_.print_ir_before_all; },
          [&](Pass*, Operation*) { return options_.print_ir_after_all || options_.print_ir_after_change; },
          /*printModuleScope=*/true, /*printAfterOnlyOnChange=*/options.print_ir_after_change);
      module.getContext()->disableMultithreading();
    }
    if (options.timing) passes_.enableTiming();
  }

  void step(const char* name, Step step) {
    if (!done_) passes_.addPass(std::make_unique<StepPass>(name, std::move(step)));
  }
  void pass(std::unique_ptr<Pass> pass) {
    if (!done_) passes_.addPass(std::move(pass));
  }
  // What was added so far is what --compile-to=`phase` runs.
  void end_phase(StringRef phase) { done_ = done_ || options_.compile_to == phase; }

  LogicalResult run(ModuleOp module) { return passes_.run(module); }

 private:
  PassManager passes_;
  const CompileOptions& options_;
  bool done_ = false;
};

}  // namespace

specs::SpecOptions spec_options(const CompileOptions& options) {
  return {options.spec_passes, options.transform_spec, options.pdl_spec, options.verbose_specs};
}

LogicalResult run_pipeline(ModuleOp module, const CompileOptions& options, std::string& schedule_text,
                           std::string& explanation) {
  schedule::ScheduleOptions schedule_options;
  codegen::StageTimes times;
  schedule_options.settings = {options.object_search_paths,
                               options.target_options,
                               options.explain ? &explanation : nullptr,
                               options.sanitize,
                               options.timing ? &times : nullptr,
                               options.device_linker};
  if (options.dump_schedule) schedule_options.dump = &schedule_text;
  if (failed(choose_targets(module, options, schedule_options.targets))) return failure();

  const bool has_devices = options.execution_model != "host-only";
  const bool fences = options.execution_model == "async-external";
  Pipeline pipeline(module, options);
  pipeline.step("read-resources", lower::read_resources);
  pipeline.step("linalg-ext-to-linalg", lower::linalg_ext_to_linalg);
  pipeline.step("refuse-unknown-operations", lower::refuse_unknown_operations);
  pipeline.step("unify-upstream-forms", lower::unify_upstream_forms);
  pipeline.step("place", placement::place);
  pipeline.step("signless-boundary", lower::signless_boundary);
  pipeline.step("collectives-to-calls", lower::collectives_to_calls);
  pipeline.step("functions-to-util", lower::functions_to_util);
  if (has_devices)
    pipeline.step("choose-functions",
                  [&](ModuleOp each) { return schedule::choose_functions(each, schedule_options); });
  if (has_devices) pipeline.step("load-named-parameters", lower::load_named_parameters);
  pipeline.step("outline-initializers", outline_initializers);
  pipeline.pass(codegen::create_canonicalizer());
  pipeline.pass(createCSEPass());
  pipeline.end_phase("input");
  if (has_devices) pipeline.step("wrap-boundary", [&](ModuleOp each) { return lower::wrap_boundary(each, fences); });
  pipeline.pass(codegen::create_canonicalizer());
  pipeline.pass(createCSEPass());
  pipeline.end_phase("abi");
  const specs::SpecOptions given = spec_options(options);
  if (given.any()) {
    pipeline.step("apply-specs", [&](ModuleOp each) { return specs::apply_specs(each, given); });
    pipeline.step("functions-to-util", lower::functions_to_util);  // Specs may bring func.funcs.
  }
  pipeline.step("frontends-to-linalg", lower::frontends_to_linalg);
  pipeline.step("tm-tensor-to-linalg", lower::tm_tensor_to_linalg);
  pipeline.step("decompose", lower::decompose);
  pipeline.step("complex-numbers-to-parts", lower::complex_numbers_to_parts);
  pipeline.step("small-floats-to-bytes", lower::small_floats_to_bytes);
  pipeline.end_phase("preprocessing");
  pipeline.step("remove-unused-calls", remove_unused_calls);
  if (has_devices)
    pipeline.step("normalize", [&](ModuleOp each) { return schedule::normalize_program(each, schedule_options); });
  pipeline.end_phase("global-optimization");
  const schedule::LibraryOptions libraries{options.library_files, options.explain ? &explanation : nullptr};
  if (has_devices) {
    pipeline.step("create-dispatches",
                  [&](ModuleOp each) { return schedule::create_dispatches(each, schedule_options, libraries); });
  }
  for (const char* phase : {"dispatch-creation", "flow", "stream"}) pipeline.end_phase(phase);
  if (has_devices && shows_kernels(options)) pipeline.step("show-kernels", schedule::show_kernels);
  for (const char* phase : kKernelPhases) pipeline.end_phase(phase);
  if (has_devices) {
    pipeline.step("schedule", [&](ModuleOp each) { return schedule::schedule_dispatches(each, schedule_options); });
  }
  pipeline.end_phase("hal");

  // Beyond this point there are scalars and references only.
  pipeline.pass(createLoopInvariantCodeMotionPass());
  pipeline.pass(createLowerAffinePass());
  pipeline.step("host-branches", host_branches);
  pipeline.pass(createConvertSCFToCFPass());
  pipeline.pass(codegen::create_canonicalizer());
  pipeline.pass(createCSEPass());
  pipeline.step("host-objects", lower::host_objects);
  pipeline.step("widen-scalars", lower::widen_scalars);
  pipeline.pass(createSymbolDCEPass());
  pipeline.end_phase("vm");
  const LogicalResult result = pipeline.run(module);
  if (options.timing) llvm::errs() << times.table();
  return result;
}

// The names that people know; some mean the same here, where tensors become recordings in one step.
std::vector<std::string> phase_names() {
  std::vector<std::string> names = {"input", "abi",   "preprocessing", "global-optimization", "dispatch-creation",
                                    "flow",  "stream"};
  names.insert(names.end(), std::begin(kKernelPhases), std::end(kKernelPhases));
  names.insert(names.end(), {"hal", "vm", "end"});
  return names;
}

}  // namespace baton::compiler_lite
