#include "compiler-lite/specs/apply_specs.hpp"

#include <mutex>

#include "compiler-lite/codegen/resolve_dims.hpp"
#include "compiler-lite/specs/inlining.hpp"
#include "compiler-lite/specs/pdl_spec.hpp"
#include "compiler-lite/specs/transform_ops.hpp"
#include "compiler-lite/specs/transform_spec.hpp"
#include "llvm/Support/raw_ostream.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/PDL/IR/PDL.h"
#include "mlir/Dialect/PDLInterp/IR/PDLInterp.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

namespace baton::compiler_lite::specs {
namespace {

// The passes that the user names, over the whole program.
mlir::LogicalResult run_pipeline(mlir::ModuleOp program, llvm::StringRef text) {
  std::string pipeline = text.starts_with("builtin.module(") ? text.str() : ("builtin.module(" + text + ")").str();
  std::string complaint;
  llvm::raw_string_ostream stream(complaint);
  const mlir::FailureOr<mlir::OpPassManager> passes = mlir::parsePassPipeline(pipeline, stream);
  if (failed(passes)) {
    return mlir::emitError(program.getLoc())
           << "The preprocessing pass pipeline '" << text << "' cannot be parsed: " << stream.str();
  }
  mlir::PassManager manager(program.getContext());
  static_cast<mlir::OpPassManager&>(manager) = *passes;
  return manager.run(program);
}

// Passes that pipelines and specs may name. MLIR's registry is one for the process.
void register_passes() {
  static std::once_flag once;
  std::call_once(once, [] {
    mlir::registerTransformsPasses();
    mlir::registerLinalgPasses();
  });
}

}  // namespace

void register_spec_dialects(mlir::DialectRegistry& registry) {
  register_passes();
  registry.insert<mlir::transform::TransformDialect, mlir::pdl::PDLDialect, mlir::pdl_interp::PDLInterpDialect>();
  register_transform_ops(registry);
  register_inlining(registry);
}

mlir::LogicalResult apply_specs(mlir::ModuleOp program, const SpecOptions& options) {
  if (!options.pass_pipeline.empty() && failed(run_pipeline(program, options.pass_pipeline))) return mlir::failure();
  if (!options.transform_file.empty() &&
      failed(apply_transform_spec(program, options.transform_file, options.verbose))) {
    return mlir::failure();
  }
  if (options.pdl_file.empty()) return mlir::success();
  if (failed(apply_pdl_spec(program, options.pdl_file, options.verbose))) return mlir::failure();
  mlir::PassManager clean_up(program.getContext());
  clean_up.addPass(codegen::create_canonicalizer());
  clean_up.addPass(mlir::createCSEPass());
  return clean_up.run(program);
}

}  // namespace baton::compiler_lite::specs
