#include "compiler-lite/codegen/cuda/executable.hpp"

#include "compiler-lite/codegen/attention.hpp"
#include "compiler-lite/codegen/cuda/architectures.hpp"
#include "compiler-lite/codegen/cuda/device_code.hpp"
#include "compiler-lite/codegen/cuda/libdevice.hpp"
#include "compiler-lite/codegen/cuda/link_ptx.hpp"
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
#include "compiler-lite/codegen/lower_to_buffers.hpp"
#include "compiler-lite/codegen/product.hpp"
#include "hal/interface/access_checks.hpp"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/GlobalVariable.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Target/TargetMachine.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/OwningOpRef.h"

namespace baton::compiler_lite::codegen::cuda {
namespace {

using mlir::failure;
using mlir::FailureOr;
using mlir::LogicalResult;
using mlir::ModuleOp;
using mlir::success;

Machine machine_of(const TargetInfo& target) { return gpu::machine_of(target.arch, target.features); }

// Once the functions are in the llvm dialect: they are launched, not called.
void mark_kernels(ModuleOp kernels, llvm::ArrayRef<gpu::EntryPoint> entries) {
  mlir::OpBuilder builder(kernels.getContext());
  for (const gpu::EntryPoint& entry : entries) {
    auto function = kernels.lookupSymbol<mlir::LLVM::LLVMFuncOp>(entry.name);
    function->setAttr(mlir::NVVM::NVVMDialect::getKernelFuncAttrName(), builder.getUnitAttr());
    llvm::SmallVector<int32_t> size;
    for (const unsigned each : entry.workgroup_size) size.push_back(static_cast<int32_t>(each));
    function->setAttr(mlir::NVVM::NVVMDialect::getReqntidAttrName(), builder.getDenseI32ArrayAttr(size));
    if (entry.blocks_wanted > 0) {
      function->setAttr(mlir::NVVM::NVVMDialect::getMinctasmAttrName(),
                        builder.getI32IntegerAttr(static_cast<int32_t>(entry.blocks_wanted)));
    }
  }
}

// LLVM has no word for it.
void ask_for_clusters(std::string& ptx, llvm::ArrayRef<gpu::EntryPoint> entries) {
  for (const gpu::EntryPoint& entry : entries) {
    if (entry.cluster_blocks == 0) continue;
    const size_t body = ptx.find('{', ptx.find(".entry " + entry.name + "("));
    ptx.insert(body, ".reqnctapercluster " + std::to_string(entry.cluster_blocks) + ", 1, 1\n");
  }
}

// LLVM rounds to bf16 by arithmetic on the bits, also where there is an instruction for it.
void round_by_instruction(ModuleOp kernels) {
  kernels.walk([](mlir::arith::TruncFOp op) {
    if (!op.getType().isBF16() || !op.getIn().getType().isF32()) return;
    mlir::OpBuilder builder(op);
    auto rounded = builder.create<mlir::LLVM::CallIntrinsicOp>(op.getLoc(), op.getType(), "llvm.nvvm.f2bf16.rn",
                                                               mlir::ValueRange{op.getIn()});
    op.replaceAllUsesWith(rounded->getResult(0));
    op.erase();
  });
}

// Copies and products by instructions that access memory in their own ways can't be checked.
void only_plain_accesses(gpu::Features& has) {
  has.has_async_copy = false;
  has.has_warpgroups = false;
  has.has_clusters = false;
  has.write_product = nullptr;
  has.makes_turns = false;
}

// For drivers, as bytes of a symbol; a zero ends them, so there always are some.
void add_access_checks(llvm::Module& module, llvm::ArrayRef<AccessCheck> checks) {
  constexpr unsigned kGlobalSpace = 1;
  llvm::Constant* rows = llvm::ConstantDataArray::getString(module.getContext(), gpu::access_check_rows(checks));
  new llvm::GlobalVariable(module, rows->getType(), /*isConstant=*/true, llvm::GlobalValue::ExternalLinkage, rows,
                           hal::kAccessChecksSymbol, nullptr, llvm::GlobalValue::NotThreadLocal, kGlobalSpace);
}

// One executable in the making; its parts in the order in which they happen.
class Build {
 public:
  Build(ModuleOp kernels, const TargetOptions& options)
      : kernels_(kernels.clone()), location_(place_of(kernels)), options_(options) {}

  LogicalResult lower(llvm::ArrayRef<Object> given) {
    const std::string arch = options_.arch.empty() ? kDefaultArch.str() : options_.arch;
    const std::optional<TargetInfo> target = target_info(arch);
    if (!target) {
      return mlir::emitError(location_, "There is no CUDA architecture '")
             << arch << "' to generate code for; there are: " << known_archs()
             << ". Without code for tensor cores: " << older_archs() << ".";
    }
    target_ = *target;
    if (options_.shared_bytes_max > 0) {
      target_.has.shared_bytes_max = std::min(target_.has.shared_bytes_max, options_.shared_bytes_max);
    }
    if (options_.sanitize) only_plain_accesses(target_.has);
    FailureOr<std::vector<LoadedObject>> loaded =
        load_objects(given, {llvm::Triple::nvptx64, options_.object_search_paths, look_into_device_code});
    if (mlir::failed(loaded)) return failure();
    objects_ = std::move(*loaded);
    find_optional_functions(objects_, optional_imports(*kernels_), {target_.arch, options_.linker});
    settle_fallbacks(*kernels_, objects_, options_.explanation);
    FailureOr<mlir::OwningOpRef<ModuleOp>> fallbacks = take_fallbacks(*kernels_, options_.explanation);
    if (mlir::failed(fallbacks)) return failure();
    fallbacks_ = std::move(*fallbacks);
    note_layouts(*kernels_);
    if (mlir::failed(gpu::lower_kernels(kernels_, target_.has)) || mlir::failed(check_imports())) return failure();
    if (target_.has.has_async_copy) round_by_instruction(*kernels_);
    return success(mlir::succeeded(lower_to_module()) && mlir::succeeded(add_fallbacks()));
  }

  // Linked with what it calls, and optimized.
  LogicalResult finish() {
    std::string problem;
    machine_ = gpu::make_target_machine(machine_of(target_), problem);
    if (machine_) {
      module_->setTargetTriple(machine_of(target_).triple);
      module_->setDataLayout(machine_->createDataLayout());
      keep_calls_in_place();
      if (!options_.libdevice.empty()) problem = link_libdevice(*module_, options_.libdevice);
      if (problem.empty()) problem = link_bitcode(*module_, bitcode());
    }
    if (!problem.empty()) return mlir::emitError(location_) << problem;
    std::vector<std::string> names;
    for (const gpu::EntryPoint& entry : entries_) names.push_back(entry.name);
    names.insert(names.end(), fallback_names_.begin(), fallback_names_.end());
    names.emplace_back(hal::kAccessChecksSymbol);
    make_private(*module_, names);
    optimize(*module_, machine_of(target_), *machine_);
    return check_calls();
  }

  FailureOr<Variant> emit() {
    const llvm::SmallVector<char, 0> text = emit_object(*module_, *machine_, /*as_text=*/true);
    std::string code(text.begin(), text.end());
    ask_for_clusters(code, entries_);
    const bool is_text =
        llvm::all_of(objects_, [](const LoadedObject& each) { return each.is_bitcode || is_ptx(each); });
    if (!is_text) return link_machine_code(code);
    std::vector<PtxObject> ptx;
    for (const LoadedObject& object : objects_) {
      if (!object.is_bitcode) ptx.push_back({object.path, object.bytes->getBuffer()});
    }
    const std::string problem = ptx.empty() ? "" : link_ptx(code, ptx, dynamic_);
    if (!problem.empty()) return mlir::emitError(location_) << problem;
    return variant(target_.format, code);
  }

  std::string print() const {
    std::string text;
    llvm::raw_string_ostream stream(text);
    module_->print(stream, nullptr);
    return stream.str();
  }

 private:
  Variant variant(std::string format, llvm::StringRef code) const {
    return {std::move(format),
            {code.begin(), code.end()},
            target_.arch,
            {entries_.begin(), entries_.end()},
            checks_.size()};
  }

  // For this architecture alone, unlike PTX.
  FailureOr<Variant> link_machine_code(const std::string& code) {
    if (!dynamic_.empty()) {
      return mlir::emitError(location_, "The kernels call '")
             << dynamic_.front() << "', which is to be found when the program is loaded, and nothing can be added to "
             << "the machine code that they are linked with (" << describe(objects_)
             << "); give that as PTX or bitcode.";
    }
    std::vector<DeviceCode> parts = {{"kernels.ptx", code}};
    for (const LoadedObject& object : objects_) {
      if (!object.is_bitcode) parts.push_back({object.path, object.bytes->getBuffer()});
    }
    std::string problem = "this compiler was called without a linker for CUDA code; baton-compile has one.";
    std::vector<std::byte> linked;
    if (options_.linker) linked = options_.linker(target_.arch, parts, problem);
    if (linked.empty()) {
      return mlir::emitError(location_, "The kernels can't be linked for ")
             << target_.arch << " (" << describe(objects_) << "): " << problem;
    }
    const auto* bytes = reinterpret_cast<const char*>(linked.data());
    return variant("cuda-" + target_.arch, {bytes, linked.size()});
  }

  // What is found when the program is loaded is called like a function that is linked now.
  LogicalResult check_imports() {
    dynamic_ = collect_imports(*kernels_).symbols;
    bool good = true;
    for (const std::string& symbol : dynamic_) {
      if (llvm::all_of(symbol, [](char c) { return llvm::isAlnum(c) || c == '_' || c == '$'; })) continue;
      mlir::emitError(location_, "The kernels import '") << symbol << "', which is no name of a function in CUDA code.";
      good = false;
    }
    for (auto function : kernels_->getOps<mlir::func::FuncOp>()) {
      if (!function.isExternal() || !function->hasAttr("hal.import.fields")) continue;
      function.emitError("The import '") << function.getSymName()
                                         << "' asks for fields (hal.import.fields); functions of CUDA code get none.";
      good = false;
    }
    return success(mlir::succeeded(check_static_imports(*kernels_, objects_)) && good);
  }

  // Functions with bodies of their own, unless the driver's linker finds others: weak symbols.
  LogicalResult add_fallbacks() {
    if (!fallbacks_) return success();
    for (auto function : fallbacks_->getOps<mlir::func::FuncOp>()) {
      if (function.isPublic()) fallback_names_.push_back(function.getSymName().str());
    }
    if (mlir::failed(lower_to_buffers(*fallbacks_)) || mlir::failed(clean_up(*fallbacks_)) ||
        mlir::failed(lower_to_blocks(*fallbacks_)) || mlir::failed(lower_math(*fallbacks_, machine_of(target_))) ||
        mlir::failed(lower_to_llvm_dialect(*fallbacks_, "CUDA"))) {
      return failure();
    }
    std::unique_ptr<llvm::Module> module = translate(*fallbacks_, context_);
    if (!module) return mlir::emitError(location_, "The bodies of imports can't be translated to LLVM IR.");
    for (const std::string& name : fallback_names_) {
      llvm::Function* function = module->getFunction(name);
      llvm::Function* declared = module_->getFunction(name);
      if (declared && declared->getFunctionType() != function->getFunctionType()) {
        return mlir::emitError(location_, "The kernels call '")
               << name << "' in another way than its body is written; pass memrefs as they are.";
      }
      function->setLinkage(llvm::GlobalValue::WeakAnyLinkage);
      function->setConvergent();
    }
    if (!llvm::Linker::linkModules(*module_, std::move(module))) return success();
    return mlir::emitError(location_, "The bodies of imports can't be linked with the kernels.");
  }

  LogicalResult lower_to_module() {
    if (mlir::failed(lower_to_blocks(*kernels_)) || mlir::failed(lower_math(*kernels_, machine_of(target_)))) {
      return failure();
    }
    FailureOr<std::vector<gpu::EntryPoint>> entries = gpu::lower_entry_points(*kernels_);
    if (mlir::failed(entries) || mlir::failed(lower_to_llvm_dialect(*kernels_, "CUDA"))) return failure();
    entries_ = std::move(*entries);
    if (options_.sanitize) {
      FailureOr<std::vector<AccessCheck>> checks = gpu::check_kernels(*kernels_, entries_);
      if (mlir::failed(checks)) return failure();
      checks_ = std::move(*checks);
    }
    mark_kernels(*kernels_, entries_);
    module_ = translate(*kernels_, context_);
    if (!module_) return mlir::emitError(location_, "The kernels can't be translated to LLVM IR.");
    if (options_.sanitize) add_access_checks(*module_, checks_);
    return success();
  }

  // The user's, then ours.
  std::vector<Bitcode> bitcode() const {
    std::vector<Bitcode> parts;
    for (const LoadedObject& object : objects_) {
      if (object.is_bitcode) parts.push_back({object.path, object.bytes->getBuffer()});
    }
    parts.push_back({"builtins", math_bitcode(machine_of(target_))});
    return parts;
  }

  // A function of PTX may hold a barrier, and what all threads of a warp do together they do at one place: calls stay where they
  // are. Else LLVM moves them to where alone their results are used, which may be where some threads don't come.
  void keep_calls_in_place() {
    for (llvm::Function& function : *module_) {
      if (function.isDeclaration() && !function.isIntrinsic()) function.setConvergent();
      for (llvm::Instruction& instruction : llvm::instructions(function)) {
        auto* const call = llvm::dyn_cast<llvm::CallBase>(&instruction);
        if (call && is_of_whole_warp(*call)) call->setConvergent();
      }
    }
  }

  static bool is_of_whole_warp(const llvm::CallBase& call) {
    if (const auto* text = llvm::dyn_cast<llvm::InlineAsm>(call.getCalledOperand())) {
      return llvm::StringRef(text->getAsmString()).starts_with("mma.sync");
    }
    const llvm::Function* const function = call.getCalledFunction();
    return function && function->getName().starts_with("llvm.nvvm.ldmatrix.sync");
  }

  // Only dynamic imports are found later.
  LogicalResult check_calls() {
    bool good = true;
    for (const llvm::Function& function : *module_) {
      if (!function.isDeclaration() || function.isIntrinsic() || function.use_empty()) continue;
      if (may_be_defined(objects_, function.getName()) || llvm::is_contained(dynamic_, function.getName())) continue;
      mlir::emitError(location_, "The executable needs '")
          << function.getName() << "', which no object defines; CUDA code has only functions that are linked with it.";
      good = false;
    }
    return success(good);
  }

  mlir::OwningOpRef<ModuleOp> kernels_;
  mlir::Location location_;  // Where messages about all of it point.
  const TargetOptions& options_;
  TargetInfo target_;
  std::vector<LoadedObject> objects_;
  std::vector<std::string> dynamic_;       // Imports that are found when the program is loaded.
  mlir::OwningOpRef<ModuleOp> fallbacks_;  // Null: none of them has a body.
  std::vector<std::string> fallback_names_;
  std::vector<gpu::EntryPoint> entries_;
  std::vector<AccessCheck> checks_;
  llvm::LLVMContext context_;
  std::unique_ptr<llvm::Module> module_;  // In the context.
  std::unique_ptr<llvm::TargetMachine> machine_;
};

}  // namespace

FailureOr<Variant> build_executable(ModuleOp kernels, const TargetOptions& options, llvm::ArrayRef<Object> objects) {
  Build build(kernels, options);
  if (mlir::failed(build.lower(objects)) || mlir::failed(build.finish())) return failure();
  return build.emit();
}

bool wants_newer_code(ModuleOp kernels) {
  for (auto kernel : kernels.getOps<mlir::func::FuncOp>()) {
    if (!kernel->hasAttr(kAttention)) continue;
    const std::optional<Attention> attention = find_attention(kernel);
    if (attention && key_sharers(*attention) > 1) return true;
  }
  return kernels
      .walk([](mlir::linalg::LinalgOp op) {
        return product_form(op) && has_small_factors(op) ? mlir::WalkResult::interrupt() : mlir::WalkResult::advance();
      })
      .wasInterrupted();
}

FailureOr<std::string> print_llvm(ModuleOp kernels, const TargetOptions& options, llvm::ArrayRef<Object> objects) {
  Build build(kernels, options);
  if (mlir::failed(build.lower(objects)) || mlir::failed(build.finish())) return failure();
  return build.print();
}

}  // namespace baton::compiler_lite::codegen::cuda
