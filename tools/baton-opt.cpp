// baton-opt: reads a program, runs passes, prints it. For looking into the compiler and for its tests.
//
// Specs given by flag run before the passes that the command line names, on the program as it was read.
#include "compiler-lite/dialects/all.hpp"
#include "compiler-lite/schedule/schedule.hpp"
#include "compiler-lite/specs/passes.hpp"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/ToolOutputFile.h"
#include "mlir/IR/Dialect.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"

namespace {

using baton::compiler_lite::specs::SpecOptions;
namespace cl = llvm::cl;

// A flag and the same flag with the prefix that other tools give it.
struct FileFlag {
  FileFlag(llvm::StringRef name, llvm::StringRef prefixed, llvm::StringRef description)
      : value(name, cl::desc(description)), alias(prefixed, cl::aliasopt(value), cl::Hidden) {}
  cl::opt<std::string> value;
  cl::alias alias;
};

// The program's module, after the specs and then after the passes of the command line.
mlir::MlirOptMainConfig with_specs(const mlir::MlirOptMainConfig& passes, const SpecOptions& options) {
  mlir::MlirOptMainConfig config = passes;
  config.setPassPipelineSetupFn([passes, options](mlir::PassManager& manager) {
    manager.addPass(baton::compiler_lite::specs::make_apply_specs_pass(options));
    return passes.setupPassPipeline(manager);
  });
  return config;
}

int fail(const std::string& message) {
  llvm::errs() << "error: " << message << "\n";
  return EXIT_FAILURE;
}

}  // namespace

int main(int argc, char** argv) {
  const llvm::InitLLVM init(argc, argv);
  mlir::DialectRegistry registry;
  baton::compiler_lite::register_dialects(registry);
  baton::compiler_lite::specs::register_spec_dialects(registry);
  baton::compiler_lite::specs::register_spec_passes();
  mlir::registerTransformsPasses();
  baton::compiler_lite::schedule::register_schedule(registry);
  baton::compiler_lite::schedule::register_schedule_passes();

  FileFlag pipeline("preprocessing-pass-pipeline", "iree-preprocessing-pass-pipeline",
                    "Passes to run before the specs");
  FileFlag transform("preprocessing-transform-spec-filename", "iree-preprocessing-transform-spec-filename",
                     "A transform spec: what to match and what to put in its place");
  FileFlag pdl("preprocessing-pdl-spec-filename", "iree-preprocessing-pdl-spec-filename",
               "A PDL spec: patterns to match and rewrite");
  cl::opt<bool> verbose("verbose-specs", cl::desc("Report each candidate that a spec looks at"));
  const auto [input, output] =
      mlir::registerAndParseCLIOptions(argc, argv, "baton-opt: runs passes of the compiler\n", registry);
  const SpecOptions options{pipeline.value, transform.value, pdl.value, verbose};

  mlir::MlirOptMainConfig config = mlir::MlirOptMainConfig::createFromCLOptions();
  if (config.shouldShowDialects())
    return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, input, output, registry));
  if (options.any()) config = with_specs(config, options);
  std::string complaint;
  auto source = mlir::openInputFile(input, &complaint);
  if (!source) return fail(complaint);
  auto result = mlir::openOutputFile(output, &complaint);
  if (!result) return fail(complaint);
  if (failed(mlir::MlirOptMain(result->os(), std::move(source), registry, config))) return EXIT_FAILURE;
  result->keep();
  return EXIT_SUCCESS;
}
