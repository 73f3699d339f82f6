#include "compiler-lite/codegen/cpu/executable.hpp"

#include <memory>
#include <thread>

#include "compiler-lite/codegen/cpu/check_kernels.hpp"
#include "compiler-lite/codegen/cpu/library.hpp"
#include "compiler-lite/codegen/cpu/library_layout.hpp"
#include "compiler-lite/codegen/cpu/link_executable.hpp"
#include "compiler-lite/codegen/cpu/lower_bodies.hpp"
#include "compiler-lite/codegen/cpu/lower_to_llvm.hpp"
#include "compiler-lite/codegen/interface_ops.hpp"
#include "compiler-lite/codegen/llvm/builtins.hpp"
#include "compiler-lite/codegen/llvm/link_bitcode.hpp"
#include "compiler-lite/codegen/llvm/llvm_dialect.hpp"
#include "compiler-lite/codegen/llvm/optimize.hpp"
#include "compiler-lite/codegen/lower_to_buffers.hpp"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace baton::compiler_lite::codegen::cpu {
namespace {

using mlir::failure;
using mlir::FailureOr;
using mlir::ModuleOp;

// One level's way from kernels to an object.
struct LevelCode {
  TargetInfo target;
  std::vector<EntryPoint> entries;
  std::vector<AccessCheck> checks;
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module;  // In the context.
  llvm::SmallVector<char, 0> code;
  std::string problem;  // Empty when all went well.
};

// One executable in the making; its parts in the order in which they happen.
class Build {
 public:
  Build(ModuleOp kernels, const TargetOptions& options)
      : kernels_(kernels.clone()),
        name_(kernels.getName().value_or("kernels")),
        specialization_count_(static_cast<unsigned>(number_of(kernels, kSpecializationCount))),
        options_(options) {}

  mlir::LogicalResult prepare(llvm::ArrayRef<Object> given) {
    FailureOr<std::vector<LoadedObject>> loaded = load_objects(
        given, {options_.architecture == Architecture::kX86_64 ? llvm::Triple::x86_64 : llvm::Triple::aarch64,
                options_.object_search_paths});
    if (mlir::failed(loaded)) return failure();
    objects_ = std::move(*loaded);
    settle_fallbacks(*kernels_, objects_, options_.explanation);
    if (mlir::failed(choose_when_loaded(*kernels_, options_.explanation))) return failure();
    for (const Level level : levels_of(options_)) levels_.push_back(target_info(options_.architecture, level));
    note_layouts(*kernels_);
    const StageTimer timer(options_.times, "tensors to buffers");
    if (mlir::failed(lower_to_buffers(*kernels_))) return failure();
    imports_ = collect_imports(*kernels_);
    return check_static_imports(*kernels_, objects_);
  }

  // MLIR's share of a level: kernels to LLVM IR.
  mlir::LogicalResult translate_level(LevelCode& level) {
    const StageTimer timer(options_.times, "buffers to LLVM's IR");
    mlir::OwningOpRef<ModuleOp> copy = kernels_->clone();
    const bool has_pair_sums = options_.architecture == Architecture::kX86_64;
    const BodyOptions bodies{level.target.vector_bytes, level.target.vector_registers, has_pair_sums};
    if (mlir::failed(lower_bodies(*copy, bodies))) return failure();
    FailureOr<std::vector<EntryPoint>> entries = lower_to_llvm(*copy, level.target, imports_);
    if (mlir::failed(entries)) return failure();
    level.entries = std::move(*entries);
    if (options_.sanitize) {
      mlir::FailureOr<std::vector<AccessCheck>> checks = check_kernels(*copy, level.entries);
      if (mlir::failed(checks)) return failure();
      level.checks = std::move(*checks);
    }
    level.module = translate(*copy, level.context);
    if (level.module) return mlir::success();
    return mlir::emitError(kernels_->getLoc(), "The kernels can't be translated to LLVM IR.");
  }

  // LLVM's share: to an object, or to text. Levels have nothing in common here and may be finished at the same time.
  void finish_level(LevelCode& level, bool with_query, EmitAs emit) const {
    llvm::Module& module = *level.module;
    const std::unique_ptr<llvm::TargetMachine> machine = make_target_machine(level.target, level.problem);
    if (!machine) return;
    module.setTargetTriple(level.target.triple);
    module.setDataLayout(machine->createDataLayout());
    add_library(module, name_, level.target, level.entries, imports_, specialization_count_, level.checks);
    if (with_query) add_query(module, levels_, options_.sanitize);
    level.problem = link_bitcode(module, bitcode_for(module, level.target));
    if (!level.problem.empty()) return;
    keep_only_visible(module, level.target, with_query);
    {
      const StageTimer timer(options_.times, "LLVM's optimizer");
      optimize(module, level.target, *machine);
    }
    const StageTimer timer(options_.times, "machine code");
    level.code = emit == EmitAs::kLlvmIr ? print(module) : emit_object(module, *machine, emit == EmitAs::kAssembly);
  }

  // All levels, in order.
  FailureOr<std::vector<std::unique_ptr<LevelCode>>> compile(bool with_query, EmitAs emit) {
    std::vector<std::unique_ptr<LevelCode>> code;
    std::vector<std::thread> threads;
    bool good = true;
    for (const TargetInfo& target : levels_) {
      code.push_back(std::make_unique<LevelCode>());
      LevelCode& level = *code.back();
      level.target = target;
      good = mlir::succeeded(translate_level(level));
      if (!good) break;
      // While this one is finished the next is translated.
      const bool has_query = with_query && code.size() == 1;
      threads.emplace_back([this, &level, has_query, emit] { finish_level(level, has_query, emit); });
    }
    for (std::thread& thread : threads) thread.join();
    for (const std::unique_ptr<LevelCode>& level : code) {
      if (!good || level->problem.empty()) continue;
      mlir::emitError(kernels_->getLoc()) << level->problem;
      good = false;
    }
    if (!good) return failure();
    return code;
  }

  FailureOr<Variant> link(const std::vector<std::unique_ptr<LevelCode>>& code) {
    const StageTimer timer(options_.times, "linking");
    std::vector<LinkInput> inputs;
    for (const std::unique_ptr<LevelCode>& level : code) {
      inputs.push_back({"kernels" + level->target.suffix, llvm::StringRef(level->code.data(), level->code.size())});
    }
    FailureOr<Variant> variant =
        link_executable({name_, kernels_->getLoc(), options_.architecture}, std::move(inputs), objects_);
    if (mlir::succeeded(variant)) {
      for (const auto& level : code) variant->check_count = std::max(variant->check_count, level->checks.size());
    }
    return variant;
  }

 private:
  // The user's, and ours where a kernel calls it.
  std::vector<Bitcode> bitcode_for(const llvm::Module& module, const TargetInfo& target) const {
    std::vector<Bitcode> bitcode = bitcode_of(objects_);
    const bool calls_math = llvm::any_of(module.functions(), [](const llvm::Function& function) {
      return function.getName().starts_with("baton_math_");
    });
    if (calls_math) bitcode.push_back({"builtins", math_bitcode(target)});
    return bitcode;
  }

  // Beyond this call the optimizer may change everything but the level's table and the query function.
  static void keep_only_visible(llvm::Module& module, const TargetInfo& target, bool with_query) {
    make_private(module, {"baton_library" + target.suffix});
    if (with_query) module.getFunction(layout::kQueryName)->setLinkage(llvm::GlobalValue::ExternalLinkage);
  }

  static llvm::SmallVector<char, 0> print(llvm::Module& module) {
    llvm::SmallVector<char, 0> text;
    llvm::raw_svector_ostream stream(text);
    module.print(stream, nullptr);
    return text;
  }

  mlir::OwningOpRef<ModuleOp> kernels_;
  std::string name_;  // Of the library.
  unsigned specialization_count_;
  const TargetOptions& options_;
  std::vector<LoadedObject> objects_;
  std::vector<TargetInfo> levels_;
  ImportTable imports_;
};

}  // namespace

FailureOr<Variant> build_executable(ModuleOp kernels, const TargetOptions& options, llvm::ArrayRef<Object> objects) {
  Build build(kernels, options);
  if (mlir::failed(build.prepare(objects))) return failure();
  FailureOr<std::vector<std::unique_ptr<LevelCode>>> code = build.compile(/*with_query=*/true, EmitAs::kObject);
  if (mlir::failed(code)) return failure();
  return build.link(*code);
}

FailureOr<std::string> print_code(ModuleOp kernels, const TargetOptions& options, llvm::ArrayRef<Object> objects,
                                  EmitAs emit) {
  Build build(kernels, options);
  if (mlir::failed(build.prepare(objects))) return failure();
  FailureOr<std::vector<std::unique_ptr<LevelCode>>> code = build.compile(/*with_query=*/false, emit);
  if (mlir::failed(code)) return failure();
  std::string text;
  for (const std::unique_ptr<LevelCode>& level : *code) text.append(level->code.begin(), level->code.end());
  return text;
}

}  // namespace baton::compiler_lite::codegen::cpu
