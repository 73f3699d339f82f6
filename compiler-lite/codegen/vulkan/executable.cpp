#include "compiler-lite/codegen/vulkan/executable.hpp"

#include "compiler-lite/codegen/cuda/architectures.hpp"
#include "compiler-lite/codegen/cuda/entry_points.hpp"
#include "compiler-lite/codegen/cuda/threads.hpp"
#include "compiler-lite/codegen/imports.hpp"
#include "compiler-lite/codegen/interface_ops.hpp"
#include "compiler-lite/codegen/llvm/builtins.hpp"
#include "compiler-lite/codegen/llvm/link_bitcode.hpp"
#include "compiler-lite/codegen/llvm/llvm_dialect.hpp"
#include "compiler-lite/codegen/llvm/math_calls.hpp"
#include "compiler-lite/codegen/llvm/optimize.hpp"
#include "compiler-lite/codegen/lower_to_buffers.hpp"
#include "compiler-lite/codegen/temporaries.hpp"
#include "compiler-lite/codegen/vulkan/function_writer.hpp"
#include "compiler-lite/codegen/vulkan/structure.hpp"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace baton::compiler_lite::codegen::vulkan {
namespace {

using mlir::failure;
using mlir::FailureOr;
using mlir::LogicalResult;
using mlir::ModuleOp;
using mlir::success;

// The optimizer works for a GPU of the simplest kind; nothing of its own survives.
Machine machine_of(const cuda::TargetInfo& target) {
  return {cuda::kTriple.str(), target.arch,      target.features,
          /*vector_bytes=*/16, /*has_fma=*/true, /*has_rounding=*/true};
}

// One executable in the making; its parts in the order in which they happen.
class Build {
 public:
  Build(ModuleOp kernels, const TargetOptions& options)
      : kernels_(kernels.clone()), location_(place_of(kernels)), options_(options) {}

  LogicalResult lower(llvm::ArrayRef<Object> given) {
    target_ = *cuda::target_info(cuda::kDefaultArch);
    target_.has.has_warps = false;
    target_.has.shared_bytes_max = options_.shared_bytes_max;
    FailureOr<std::vector<LoadedObject>> loaded =
        load_objects(given, {llvm::Triple::nvptx64, options_.object_search_paths});
    if (mlir::failed(loaded)) return failure();
    objects_ = std::move(*loaded);
    note_layouts(*kernels_);
    if (mlir::failed(lower_to_buffers(*kernels_)) || mlir::failed(check_imports())) return failure();
    if (mlir::failed(cuda::lower_to_threads(*kernels_, target_.has)) ||
        mlir::failed(place_temporaries(*kernels_, {static_cast<uint64_t>(options_.shared_bytes_max), 0})) ||
        mlir::failed(clean_up(*kernels_)) || mlir::failed(lower_to_blocks(*kernels_)) ||
        mlir::failed(lower_math(*kernels_, machine_of(target_)))) {
      return failure();
    }
    FailureOr<std::vector<cuda::EntryPoint>> entries = cuda::lower_entry_points(*kernels_);
    if (mlir::failed(entries) || mlir::failed(lower_to_llvm_dialect(*kernels_, "Vulkan"))) return failure();
    entries_ = std::move(*entries);
    llvm_ = std::make_unique<llvm::LLVMContext>();
    module_ = translate(*kernels_, *llvm_);
    return module_ ? success() : mlir::emitError(location_, "The kernels can't be translated to LLVM IR.");
  }

  // Linked with what it calls, optimized, and in loops and choices.
  LogicalResult finish() {
    std::string problem;
    machine_ = cuda::make_target_machine(target_, problem);
    if (machine_) {
      module_->setTargetTriple(cuda::kTriple);
      module_->setDataLayout(machine_->createDataLayout());
      problem = link_bitcode(*module_, bitcode());
    }
    if (!problem.empty()) return mlir::emitError(location_) << problem;
    std::vector<std::string> names;
    for (const cuda::EntryPoint& entry : entries_) names.push_back(entry.name);
    make_private(*module_, names);
    inline_all(names);
    split_aggregates(*module_);
    optimize(*module_, machine_of(target_), *machine_);
    if (mlir::failed(check_calls())) return failure();
    structured_ = structure(std::move(module_), *machine_);
    if (!structured_.problem.empty()) return mlir::emitError(location_) << structured_.problem;
    return success();
  }

  FailureOr<Variant> emit() {
    SpirvWriter writer;
    for (const cuda::EntryPoint& entry : entries_) {
      KernelShape shape{entry.name, entry.binding_count, entry.constant_count};
      std::copy(std::begin(entry.workgroup_size), std::end(entry.workgroup_size), shape.workgroup_size);
      shape.shared_bytes = entry.local_memory_bytes;
      auto function = structured_.module->lookupSymbol<mlir::LLVM::LLVMFuncOp>(entry.name);
      FunctionWriter one(writer, structured_.tables, shape);
      if (mlir::failed(one.write(function))) {
        return mlir::emitError(location_, "The kernel '") << entry.name << "': " << one.problem();
      }
    }
    return Variant{kFormat.str(), writer.bytes()};
  }

  std::string print() const {
    std::string text;
    llvm::raw_string_ostream stream(text);
    structured_.module.get()->print(stream);
    return stream.str();
  }

 private:
  LogicalResult check_imports() {
    const ImportTable dynamic = collect_imports(*kernels_);
    for (const std::string& symbol : dynamic.symbols) {
      mlir::emitError(location_, "The kernels call '")
          << symbol << "', which is to be found when the program is loaded; code for Vulkan has only functions that "
          << "are linked with it (hal.import.static, hal.import.bitcode).";
    }
    return success(dynamic.symbols.empty() && mlir::succeeded(check_static_imports(*kernels_, objects_)));
  }

  std::vector<Bitcode> bitcode() const {
    std::vector<Bitcode> parts;
    for (const LoadedObject& object : objects_) parts.push_back({object.path, object.bytes->getBuffer()});
    parts.push_back({"builtins", math_bitcode(machine_of(target_))});
    return parts;
  }

  void inline_all(llvm::ArrayRef<std::string> entries) {
    for (llvm::Function& function : *module_) {
      if (function.isDeclaration() || llvm::is_contained(entries, function.getName())) continue;
      function.removeFnAttr(llvm::Attribute::NoInline);
      function.removeFnAttr(llvm::Attribute::OptimizeNone);
      function.addFnAttr(llvm::Attribute::AlwaysInline);
    }
  }

  LogicalResult check_calls() {
    bool good = true;
    for (const llvm::Function& function : *module_) {
      if (function.isIntrinsic() || function.use_empty()) continue;
      mlir::InFlightDiagnostic said = mlir::emitError(location_);
      if (function.isDeclaration()) {
        said << "The executable needs '" << function.getName()
             << "', which no object defines; code for Vulkan has only functions that are linked with it.";
      } else {
        said << "The function '" << function.getName() << "' calls itself; code for Vulkan can't.";
      }
      good = false;
    }
    return success(good);
  }

  mlir::OwningOpRef<ModuleOp> kernels_;
  mlir::Location location_;  // Where messages about all of it point.
  const TargetOptions& options_;
  cuda::TargetInfo target_;
  std::vector<LoadedObject> objects_;
  std::vector<cuda::EntryPoint> entries_;
  std::unique_ptr<llvm::LLVMContext> llvm_;
  std::unique_ptr<llvm::Module> module_;  // In the context.
  std::unique_ptr<llvm::TargetMachine> machine_;
  Structured structured_;
};

}  // namespace

FailureOr<Variant> build_executable(ModuleOp kernels, const TargetOptions& options, llvm::ArrayRef<Object> objects) {
  Build build(kernels, options);
  if (mlir::failed(build.lower(objects)) || mlir::failed(build.finish())) return failure();
  return build.emit();
}

FailureOr<std::string> print_structured(ModuleOp kernels, const TargetOptions& options,
                                        llvm::ArrayRef<Object> objects) {
  Build build(kernels, options);
  if (mlir::failed(build.lower(objects)) || mlir::failed(build.finish())) return failure();
  return build.print();
}

}  // namespace baton::compiler_lite::codegen::vulkan
