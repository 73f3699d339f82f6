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

#include "compiler-lite/codegen/cpu/executable.hpp"
#include "compiler-lite/codegen/cuda/executable.hpp"
#include "compiler-lite/codegen/cuda/target.hpp"
#include "compiler-lite/codegen/cuda/threads.hpp"
#include "compiler-lite/codegen/kernel.hpp"
#include "compiler-lite/codegen/lower_bodies.hpp"
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
namespace cpu = codegen::cpu;

cl::OptionCategory category("baton-codegen");
cl::opt<std::string> input(cl::Positional, cl::desc("<file.mlir>"), cl::init("-"), cl::cat(category));
cl::opt<std::string> output("o", cl::desc("Where to write"), cl::init("-"), cl::cat(category));
cl::opt<std::string> from("from", cl::desc("groups or kernels"), cl::init("groups"), cl::cat(category));
cl::opt<std::string> emit("emit", cl::desc("kernels, grids, loops, threads, launches, llvm, asm or elf"),
                          cl::init("kernels"), cl::cat(category));
cl::opt<std::string> arch("arch", cl::desc("x86_64, aarch64 or sm_NN"), cl::init("x86_64"), cl::cat(category));
cl::list<std::string> levels("level", cl::desc("baseline, avx2, avx512; all without it"), cl::cat(category));
cl::list<std::string> object_paths("object", cl::desc("An object to link"), cl::cat(category));
cl::list<std::string> search_paths("object-search-path", cl::desc("Where objects are looked for"), cl::cat(category));

// A copy: the linker that runs in this process resets the options of LLVM's command line.
struct Request {
  std::string output, from, emit, arch;
  cpu::TargetOptions target;
  std::vector<std::string> objects;
};

bool read_request(Request& request) {
  request = {output, from, emit, arch, {}, {object_paths.begin(), object_paths.end()}};
  request.target.architecture = arch == "aarch64" ? cpu::Architecture::kAarch64 : cpu::Architecture::kX86_64;
  request.target.object_search_paths.assign(search_paths.begin(), search_paths.end());
  for (const std::string& level : levels) {
    if (level == "baseline")
      request.target.levels.push_back(cpu::Level::kBaseline);
    else if (level == "avx2")
      request.target.levels.push_back(cpu::Level::kAvx2);
    else if (level == "avx512")
      request.target.levels.push_back(cpu::Level::kAvx512);
    else
      return llvm::errs() << "baton-codegen: no level '" << level << "'\n", false;
  }
  return true;
}

bool is_gpu(const Request& request) { return llvm::StringRef(request.arch).starts_with("sm_"); }

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

mlir::OwningOpRef<mlir::ModuleOp> make_kernels(mlir::ModuleOp groups, const Request& request, llvm::raw_ostream& text) {
  mlir::OwningOpRef<mlir::ModuleOp> kernels = mlir::ModuleOp::create(groups.getLoc(), groups.getName());
  for (auto group : groups.getOps<mlir::func::FuncOp>()) {
    mlir::FailureOr<codegen::Kernel> kernel =
        codegen::make_kernel(group, *kernels, is_gpu(request) ? codegen::Tiling::kBlocks : codegen::Tiling::kCores);
    if (mlir::failed(kernel)) return {};
    if (request.emit == "grids") describe(text, *kernel);
  }
  return kernels;
}

mlir::LogicalResult write_gpu(mlir::ModuleOp kernels, const Request& request,
                              const std::vector<codegen::Object>& objects, llvm::raw_ostream& stream) {
  const codegen::cuda::TargetOptions options{request.arch, request.target.object_search_paths};
  const std::optional<codegen::cuda::TargetInfo> target = codegen::cuda::target_info(request.arch);
  if (request.emit == "threads" && target) {
    if (mlir::failed(codegen::lower_to_buffers(kernels)) ||
        mlir::failed(codegen::cuda::lower_to_threads(kernels, target->has)) ||
        mlir::failed(codegen::clean_up(kernels))) {
      return mlir::failure();
    }
    return kernels.print(stream), mlir::success();
  }
  if (request.emit == "llvm") {
    mlir::FailureOr<std::string> text = codegen::cuda::print_llvm(kernels, options, objects);
    if (mlir::succeeded(text)) stream << *text;
    return mlir::success(mlir::succeeded(text));
  }
  mlir::FailureOr<codegen::cuda::Variant> variant = codegen::cuda::build_executable(kernels, options, objects);
  if (mlir::failed(variant)) return mlir::failure();
  if (request.emit == "launches") {
    for (const codegen::cuda::EntryPoint& entry : variant->entry_points) {
      stream << entry.name << " " << entry.constant_count << " " << entry.binding_count;
      for (const unsigned size : entry.workgroup_size) stream << " " << size;
      stream << " " << entry.local_memory_bytes << "\n";
    }
    return mlir::success();
  }
  stream << variant->ptx;
  return mlir::success();
}

mlir::LogicalResult write(mlir::ModuleOp kernels, const Request& request, llvm::raw_ostream& stream) {
  std::vector<codegen::Object> objects;
  for (const std::string& path : request.objects) objects.push_back({path, {}, kernels.getLoc()});
  if (request.emit == "kernels") return kernels.print(stream), mlir::success();
  if (request.emit == "grids") return mlir::success();
  if (request.emit == "loops") {
    if (mlir::failed(codegen::lower_to_buffers(kernels))) return mlir::failure();
    if (mlir::failed(codegen::lower_bodies(kernels, {32, 16}))) return mlir::failure();
    return kernels.print(stream), mlir::success();
  }
  if (request.emit == "elf") {
    mlir::FailureOr<cpu::Variant> variant = cpu::build_executable(kernels, request.target, objects);
    if (mlir::failed(variant)) return mlir::failure();
    stream.write(variant->bytes.data(), variant->bytes.size());
    return mlir::success();
  }
  if (is_gpu(request)) return write_gpu(kernels, request, objects, stream);
  const auto as = request.emit == "asm" ? cpu::EmitAs::kAssembly : cpu::EmitAs::kLlvmIr;
  mlir::FailureOr<std::string> text = cpu::print_code(kernels, request.target, objects, as);
  if (mlir::succeeded(text)) stream << *text;
  return mlir::success(mlir::succeeded(text));
}

int run(const Request& request) {
  mlir::DialectRegistry registry;
  baton::compiler_lite::register_dialects(registry);
  codegen::register_codegen(registry);
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
  if (request.from == "groups") module = make_kernels(*module, request, target->os());
  if (!module || mlir::failed(write(*module, request, target->os()))) return 1;
  target->keep();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const llvm::InitLLVM init(argc, argv);
  mlir::registerAsmPrinterCLOptions();
  cl::ParseCommandLineOptions(argc, argv, "baton-codegen: makes kernels and code\n");
  Request request;
  return read_request(request) ? run(request) : 2;
}
