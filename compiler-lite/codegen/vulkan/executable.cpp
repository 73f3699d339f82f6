#include "compiler-lite/codegen/vulkan/executable.hpp"

#include <cstring>
#include <set>

#include "compiler-lite/codegen/gpu/check_kernels.hpp"
#include "compiler-lite/codegen/gpu/entry_points.hpp"
#include "compiler-lite/codegen/gpu/lower_kernels.hpp"
#include "compiler-lite/codegen/gpu/machine.hpp"
#include "compiler-lite/codegen/imports.hpp"
#include "compiler-lite/codegen/interface_ops.hpp"
#include "compiler-lite/codegen/llvm/builtins.hpp"
#include "compiler-lite/codegen/llvm/link_bitcode.hpp"
#include "compiler-lite/codegen/llvm/llvm_dialect.hpp"
#include "compiler-lite/codegen/llvm/math_calls.hpp"
#include "compiler-lite/codegen/llvm/optimize.hpp"
#include "compiler-lite/codegen/vulkan/function_writer.hpp"
#include "compiler-lite/codegen/vulkan/library_calls.hpp"
#include "compiler-lite/codegen/vulkan/link_spirv.hpp"
#include "compiler-lite/codegen/vulkan/structure.hpp"
#include "hal/interface/access_checks.hpp"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace baton::compiler_lite::codegen::vulkan {
namespace {

using mlir::failure;
using mlir::FailureOr;
using mlir::LogicalResult;
using mlir::ModuleOp;
using mlir::success;

// A workgroup of a multiple of so many threads in x is whole subgroups, on devices that take such code.
constexpr unsigned kFullSubgroup = hal::spirv::kHandingThreadsMax;

// One executable in the making; its parts in the order in which they happen.
class Build {
 public:
  Build(ModuleOp kernels, const TargetOptions& options)
      : kernels_(kernels.clone()), location_(place_of(kernels)), options_(options) {}

  LogicalResult lower_to_threads(llvm::ArrayRef<Object> given) {
    if (mlir::failed(load(given))) return failure();
    settle_fallbacks(*kernels_, objects_, options_.explanation);
    if (mlir::failed(choose_when_loaded(*kernels_, options_.explanation))) return failure();
    note_layouts(*kernels_);
    const gpu::Features features{.shared_bytes_max = options_.shared_bytes_max,
                                 .warp = options_.by_subgroups ? hal::spirv::kHandingThreads : 0};
    return gpu::lower_kernels(kernels_, features);
  }

  // Whether threads hand each other something, in workgroups that any device's subgroups fill.
  bool hands_over() const {
    bool hands_over = false, fills = true;
    for (auto kernel : kernels_.get().getOps<mlir::func::FuncOp>()) {
      if (!kernel->walk([](mlir::NVVM::ShflOp) { return mlir::WalkResult::interrupt(); }).wasInterrupted()) continue;
      hands_over = true;
      unsigned sizes[3] = {1, 1, 1};
      read_workgroup_size(kernel, sizes);
      fills = fills && sizes[0] % kFullSubgroup == 0;
    }
    return hands_over && fills;
  }

  LogicalResult lower() {
    if (mlir::failed(check_imports()) || mlir::failed(lower_to_blocks(*kernels_)) ||
        mlir::failed(lower_math(*kernels_, gpu_))) {
      return failure();
    }
    FailureOr<std::vector<gpu::EntryPoint>> entries = gpu::lower_entry_points(*kernels_);
    if (mlir::failed(entries) || mlir::failed(lower_to_llvm_dialect(*kernels_, "Vulkan"))) return failure();
    entries_ = std::move(*entries);
    if (options_.sanitize) {
      FailureOr<std::vector<AccessCheck>> checks = gpu::check_kernels(*kernels_, entries_);
      if (mlir::failed(checks)) return failure();
      checks_ = std::move(*checks);
    }
    llvm_ = std::make_unique<llvm::LLVMContext>();
    module_ = translate(*kernels_, *llvm_);
    return module_ ? success() : mlir::emitError(location_, "The kernels can't be translated to LLVM IR.");
  }

  // Linked with what it calls, optimized, and in loops and choices.
  LogicalResult finish() {
    std::string problem;
    machine_ = gpu::make_target_machine(gpu_, problem);
    if (machine_) {
      module_->setTargetTriple(gpu_.triple);
      module_->setDataLayout(machine_->createDataLayout());
      problem = link_bitcode(*module_, bitcode());
    }
    if (!problem.empty()) return mlir::emitError(location_) << problem;
    std::vector<std::string> names;
    for (const gpu::EntryPoint& entry : entries_) names.push_back(entry.name);
    make_private(*module_, names);
    inline_all(names);
    split_aggregates(*module_);
    optimize(*module_, gpu_, *machine_);
    if (mlir::failed(check_calls())) return failure();
    structured_ = structure(std::move(module_), *machine_);
    if (!structured_.problem.empty()) return mlir::emitError(location_) << structured_.problem;
    return success();
  }

  FailureOr<Variant> emit() {
    SpirvWriter writer;
    LibraryCalls calls;
    for (const SpirvLibrary& library : libraries_) {
      if (library.orders_memory) writer.need(spv::kVulkanMemoryModel);
    }
    // One thread of all is the first to write down what failed.
    if (options_.sanitize) writer.need(spv::kVulkanMemoryModel);
    for (const AccessCheck& check : checks_) writer.note(hal::kAccessChecksNote + gpu::access_check_rows(check));
    std::string problem = calls.declare_dynamic(*structured_.module, dynamic_, writer);
    if (problem.empty()) problem = calls.declare(*structured_.module, libraries_, writer);
    if (!problem.empty()) return mlir::emitError(location_) << problem;
    for (const gpu::EntryPoint& entry : entries_) {
      KernelShape shape{entry.name, entry.binding_count, entry.constant_count};
      std::copy(std::begin(entry.workgroup_size), std::end(entry.workgroup_size), shape.workgroup_size);
      shape.shared_bytes = entry.local_memory_bytes;
      auto function = structured_.module->lookupSymbol<mlir::LLVM::LLVMFuncOp>(entry.name);
      FunctionWriter one(writer, structured_.tables, calls, shape);
      if (mlir::failed(one.write(function))) {
        return mlir::emitError(location_, "The kernel '") << entry.name << "': " << one.problem();
      }
    }
    return calls.has_libraries() ? link(writer) : variant(writer.bytes());
  }

  std::string print() const {
    std::string text;
    llvm::raw_string_ostream stream(text);
    structured_.module.get()->print(stream);
    return stream.str();
  }

 private:
  std::string format() const { return options_.by_subgroups ? hal::spirv::kHandingFormat : kFormat.str(); }
  Variant variant(std::vector<char> bytes) const { return {format(), std::move(bytes), {}, {}, checks_.size()}; }

  // Libraries of SPIR-V apart from bitcode.
  LogicalResult load(llvm::ArrayRef<Object> given) {
    const ObjectOptions options{llvm::Triple::nvptx64, options_.object_search_paths};
    std::vector<Object> others;
    bool good = true;
    for (const Object& each : given) {
      if (!is_library(each.path)) {
        others.push_back(each);
        continue;
      }
      FailureOr<LoadedObject> object = read_object(each, options);
      FailureOr<SpirvLibrary> library = failure();
      if (mlir::succeeded(object)) library = read_library(*object);
      good = good && mlir::succeeded(library);
      if (mlir::failed(library)) continue;
      for (const LibraryFunction& function : library->functions) object->defined.push_back(function.name);
      libraries_.push_back(std::move(*library));
      objects_.push_back(std::move(*object));
    }
    FailureOr<std::vector<LoadedObject>> loaded = load_objects(others, options);
    if (mlir::failed(loaded) || !good) return failure();
    for (LoadedObject& each : *loaded) objects_.push_back(std::move(each));
    return success();
  }

  FailureOr<Variant> link(const SpirvWriter& writer) {
    const std::vector<char> bytes = writer.bytes();
    std::vector<std::vector<uint32_t>> modules(1, std::vector<uint32_t>(bytes.size() / 4));
    std::memcpy(modules[0].data(), bytes.data(), bytes.size());
    for (const SpirvLibrary& library : libraries_) {
      modules.push_back(with_memory_model(library, writer.needs(spv::kVulkanMemoryModel)));
      if (const std::string invalid = validate_library(modules.back()); !invalid.empty()) {
        return mlir::emitError(location_, "The object '") << library.path << "' is no library: " << invalid;
      }
    }
    std::string problem;
    const std::vector<uint32_t> words = link_spirv(modules, !dynamic_.empty(), problem);
    if (!problem.empty()) return mlir::emitError(location_) << problem;
    const auto* first = reinterpret_cast<const char*>(words.data());
    return variant({first, first + 4 * words.size()});
  }

  // Dynamic imports and their questions are called by the names that linkage gives them.
  LogicalResult check_imports() {
    bool good = true;
    for (auto function : kernels_->getOps<mlir::func::FuncOp>()) {
      if (!function.isExternal() || is_static_import(function)) continue;
      if (function->hasAttr("hal.import.fields")) {
        function.emitError("The import '")
            << function.getSymName() << "' asks for fields (hal.import.fields); functions of Vulkan code get none.";
        good = false;
      }
      const char* kind = is_import_question(function)   ? hal::spirv::kIsThere
                         : is_optional_import(function) ? hal::spirv::kOptionalImport
                                                        : "";
      const std::string name = kind + import_symbol_of(function);
      function->setAttr("hal.import.name", mlir::StringAttr::get(kernels_->getContext(), name));
      dynamic_.insert(name);
    }
    return success(mlir::succeeded(check_static_imports(*kernels_, objects_)) && good);
  }

  std::vector<Bitcode> bitcode() const {
    std::vector<Bitcode> parts;
    for (const LoadedObject& object : objects_) {
      if (!is_library(object.path)) parts.push_back({object.path, object.bytes->getBuffer()});
    }
    parts.push_back({"builtins", math_bitcode(gpu_)});
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

  bool is_in_library(const llvm::Function& function) const {
    return function.isDeclaration() && llvm::any_of(objects_, [&](const LoadedObject& object) {
             return is_library(object.path) && llvm::is_contained(object.defined, function.getName());
           });
  }

  LogicalResult check_calls() {
    bool good = true;
    for (const llvm::Function& function : *module_) {
      if (function.isIntrinsic() || function.use_empty() || is_in_library(function)) continue;
      if (function.isDeclaration() && dynamic_.count(function.getName().str()) != 0) continue;
      mlir::InFlightDiagnostic said = mlir::emitError(location_);
      if (function.isDeclaration()) {
        said << "The executable needs '" << function.getName() << "', which no object defines.";
      } else if (function.hasAddressTaken()) {
        said << "The function '" << function.getName() << "' is called through a pointer; code for Vulkan has none.";
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
  // The optimizer works for a GPU of the simplest kind; nothing of its own survives.
  const Machine gpu_ = gpu::machine_of();
  std::vector<LoadedObject> objects_;
  std::vector<SpirvLibrary> libraries_;
  std::vector<gpu::EntryPoint> entries_;
  std::vector<AccessCheck> checks_;
  std::set<std::string> dynamic_;  // Imports that are found when the program is loaded.
  std::unique_ptr<llvm::LLVMContext> llvm_;
  std::unique_ptr<llvm::Module> module_;  // In the context.
  std::unique_ptr<llvm::TargetMachine> machine_;
  Structured structured_;
};

}  // namespace

FailureOr<Variant> build_executable(ModuleOp kernels, const TargetOptions& options, llvm::ArrayRef<Object> objects) {
  Build build(kernels, options);
  if (mlir::failed(build.lower_to_threads(objects)) || mlir::failed(build.lower()) || mlir::failed(build.finish())) {
    return failure();
  }
  return build.emit();
}

FailureOr<std::optional<Variant>> build_by_subgroups(ModuleOp kernels, TargetOptions options,
                                                     llvm::ArrayRef<Object> objects) {
  const auto reduces = [](mlir::linalg::LinalgOp op) {
    const bool joins = op.getNumReductionLoops() > 0 && !llvm::isa<mlir::linalg::ContractionOpInterface>(*op);
    return joins ? mlir::WalkResult::interrupt() : mlir::WalkResult::advance();
  };
  if (!kernels.walk(reduces).wasInterrupted()) return std::optional<Variant>();
  options.by_subgroups = true;
  options.explanation = nullptr;  // The other variant says it.
  Build build(kernels, options);
  {
    // What is wrong with the kernels the other variant says; what has no room in this one alone has no need of it.
    const mlir::ScopedDiagnosticHandler quiet(kernels.getContext(), [](mlir::Diagnostic&) { return success(); });
    if (mlir::failed(build.lower_to_threads(objects))) return std::optional<Variant>();
  }
  if (!build.hands_over()) return std::optional<Variant>();
  if (mlir::failed(build.lower()) || mlir::failed(build.finish())) return failure();
  FailureOr<Variant> variant = build.emit();
  if (mlir::failed(variant)) return failure();
  return std::optional<Variant>(std::move(*variant));
}

FailureOr<std::string> print_structured(ModuleOp kernels, const TargetOptions& options,
                                        llvm::ArrayRef<Object> objects) {
  Build build(kernels, options);
  if (mlir::failed(build.lower_to_threads(objects)) || mlir::failed(build.lower()) || mlir::failed(build.finish())) {
    return failure();
  }
  return build.print();
}

}  // namespace baton::compiler_lite::codegen::vulkan
