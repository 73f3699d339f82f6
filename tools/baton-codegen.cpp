// baton-codegen: looks into code generation, and serves its tests. Reads MLIR; makes kernels of groups, code of
// kernels.
//
//   baton-codegen --emit=kernels groups.mlir            the kernels' bodies
//   baton-codegen --emit=grids groups.mlir              what dispatches pass: bindings, constants, grid
//   baton-codegen --emit=loops|llvm|asm|elf in.mlir     from groups, or from kernels with --from=kernels
//   baton-codegen --arch=sm_80 --emit=threads|llvm|asm  the same for CUDA; its assembly is PTX
//   baton-codegen --arch=sm_80 --emit=launches          constants, bindings, block and shared memory of each kernel
#include <memory>
#include <string>
#include <vector>

#include "compiler-lite/codegen/kernel.hpp"
#include "compiler-lite/codegen/lower_to_buffers.hpp"
#include "compiler-lite/codegen/target.hpp"
#include "compiler-lite/dialects/all.hpp"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/ToolOutputFile.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Support/FileUtilities.h"

namespace {

namespace cl = llvm::cl;
namespace codegen = baton::compiler_lite::codegen;
namespace hal = baton::compiler_lite::hal;

cl::OptionCategory category("baton-codegen");
cl::opt<std::string> input(cl::Positional, cl::desc("<file.mlir>"), cl::init("-"), cl::cat(category));
cl::opt<std::string> output("o", cl::desc("Where to write"), cl::init("-"), cl::cat(category));
cl::opt<std::string> from("from", cl::desc("groups or kernels"), cl::init("groups"), cl::cat(category));
cl::opt<std::string> emit(
    "emit", cl::desc("kernels, grids, or a stage of the target: loops, threads, launches, llvm, asm, elf"),
    cl::init("kernels"), cl::cat(category));
cl::opt<std::string> arch("arch", cl::desc("An architecture of a target; this machine's without it"),
                          cl::cat(category));
cl::opt<bool> sanitize("sanitize", cl::desc("kernels check their accesses"), cl::cat(category));
cl::list<std::string> target_options("target-option", cl::desc("name=value, for the target alone"), cl::cat(category));
cl::list<std::string> object_paths("object", cl::desc("An object to link"), cl::cat(category));
cl::list<std::string> search_paths("object-search-path", cl::desc("Where objects are looked for"), cl::cat(category));

// A copy: the linker that runs in this process resets the options of LLVM's command line.
struct Request {
  std::string output, from, emit, arch;
  codegen::TargetSettings settings;
  std::vector<std::string> objects;
};

Request read_request() {
  Request request{output, from, emit, arch, {}, {object_paths.begin(), object_paths.end()}};
  request.settings.object_search_paths.assign(search_paths.begin(), search_paths.end());
  request.settings.sanitize = sanitize;
  for (const llvm::StringRef option : target_options) {
    const auto [name, value] = option.split('=');
    request.settings.options[name.str()] = value.str();
  }
  return request;
}

// What the architecture's name means; null after a message.
hal::ExecutableTargetAttr find_target(mlir::ModuleOp module, llvm::StringRef name) {
  if (name.empty()) return codegen::all_targets().front()->usual(module.getContext(), {});
  for (const codegen::Target* each : codegen::all_targets()) {
    if (const hal::ExecutableTargetAttr target = each->of_architecture(module.getContext(), name)) return target;
  }
  module.emitError("There is no architecture '") << name << "' to generate code for.";
  return {};
}

void describe(llvm::raw_ostream& stream, const codegen::Kernel& kernel) {
  stream << kernel.name << "\n";
  for (const codegen::KernelBinding& binding : kernel.bindings) {
    const bool argument = binding.source == codegen::KernelBinding::Source::kArgument;
    stream << "  binding " << (argument ? "argument " : "result ") << binding.index
           << (binding.written ? " written" : "") << "\n";
  }
  for (const codegen::KernelConstant& constant : kernel.constants) {
    using Source = codegen::KernelConstant::Source;
    stream << "  word " << constant.word << " x" << constant.word_count << " ";
    if (constant.source == Source::kArgument) stream << "argument " << constant.index;
    if (constant.source == Source::kArgumentSize)
      stream << "size " << constant.dimension << " of argument " << constant.index;
    if (constant.source == Source::kResultSize)
      stream << "size " << constant.dimension << " of result " << constant.index;
    stream << " : " << constant.type << "\n";
  }
  if (kernel.grid) stream << "  grid " << kernel.grid << "\n";
}

mlir::OwningOpRef<mlir::ModuleOp> make_kernels(mlir::ModuleOp groups, codegen::Tiling tiling, const Request& request,
                                               llvm::raw_ostream& text) {
  mlir::OwningOpRef<mlir::ModuleOp> kernels = mlir::ModuleOp::create(groups.getLoc(), groups.getName());
  for (auto group : groups.getOps<mlir::func::FuncOp>()) {
    mlir::FailureOr<codegen::Kernel> kernel = codegen::make_kernel(group, *kernels, tiling);
    if (mlir::failed(kernel)) return {};
    if (request.emit == "grids") describe(text, *kernel);
  }
  return kernels;
}

mlir::LogicalResult write(mlir::ModuleOp module, const Request& request, llvm::raw_ostream& stream) {
  const hal::ExecutableTargetAttr attribute = find_target(module, request.arch);
  if (!attribute) return mlir::failure();
  const codegen::Target& target = *codegen::find_target(attribute);
  mlir::OwningOpRef<mlir::ModuleOp> made;
  if (request.from == "groups") {
    made = make_kernels(module, target.facts().tiling, request, stream);
    if (!made) return mlir::failure();
    module = *made;
  }
  if (request.emit == "kernels") return module.print(stream), mlir::success();
  if (request.emit == "grids") return mlir::success();
  std::vector<codegen::Object> objects;
  for (const std::string& path : request.objects) objects.push_back({path, {}, module.getLoc()});
  const mlir::FailureOr<std::string> shown =
      target.show({module, attribute, attribute, objects, request.settings}, request.emit);
  if (mlir::failed(shown)) return mlir::failure();
  stream << *shown;
  return mlir::success();
}

int run(const Request& request) {
  mlir::DialectRegistry registry;
  baton::compiler_lite::register_dialects(registry);
  codegen::register_codegen(registry);
  for (const codegen::Target* each : codegen::all_targets()) each->register_dialects(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  std::string message;
  auto file = mlir::openInputFile(input, &message);
  if (!file) return llvm::errs() << message << "\n", 1;
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(std::move(file), llvm::SMLoc());
  mlir::SourceMgrDiagnosticHandler diagnostics(sources, &context);
  mlir::OwningOpRef<mlir::ModuleOp> module = mlir::parseSourceFile<mlir::ModuleOp>(sources, &context);
  if (!module) return 1;
  auto target = mlir::openOutputFile(request.output, &message);
  if (!target) return llvm::errs() << message << "\n", 1;
  if (mlir::failed(write(*module, request, target->os()))) return 1;
  target->keep();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const llvm::InitLLVM init(argc, argv);
  mlir::registerAsmPrinterCLOptions();
  cl::ParseCommandLineOptions(argc, argv, "baton-codegen: makes kernels and code\n");
  return run(read_request());
}
