#include "compiler-lite/codegen/cpu/user_library.hpp"

#include "compiler-lite/codegen/cpu/levels.hpp"
#include "compiler-lite/codegen/cpu/library.hpp"
#include "compiler-lite/codegen/cpu/library_layout.hpp"
#include "compiler-lite/codegen/cpu/link_executable.hpp"
#include "compiler-lite/codegen/llvm/optimize.hpp"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Target/TargetMachine.h"

namespace baton::compiler_lite::codegen::cpu {
namespace {

using mlir::emitError;
using mlir::failure;
using mlir::FailureOr;
using mlir::Location;
using mlir::LogicalResult;

struct LevelObject {
  std::string name;
  llvm::SmallVector<char, 0> code;
};

class UserLibrary {
 public:
  UserLibrary(llvm::StringRef name, Location location, const std::vector<EntryPoint>& kernels,
              unsigned specialization_count, const TargetOptions& options, std::vector<LoadedObject> objects)
      : name_(name),
        location_(location),
        kernels_(kernels),
        specialization_count_(specialization_count),
        options_(options),
        objects_(std::move(objects)) {}

  FailureOr<Variant> build() {
    if (const LoadedObject* finished = find_finished()) return take(*finished);
    has_query_ = defines(layout::kQueryName);
    if (!has_query_ && mlir::failed(check_kernels())) return failure();
    if (mlir::failed(compile_levels())) return failure();
    return link();
  }

 private:
  static bool is_shared_object(const LoadedObject& object) {
    if (object.is_bitcode) return false;
    llvm::Expected<std::unique_ptr<llvm::object::Binary>> binary = llvm::object::createBinary(*object.bytes);
    if (!binary) {
      llvm::consumeError(binary.takeError());
      return false;
    }
    const auto* file = llvm::dyn_cast<llvm::object::ELFObjectFileBase>(binary->get());
    return file && file->getEType() == llvm::ELF::ET_DYN;
  }

  const LoadedObject* find_finished() const {
    for (const LoadedObject& object : objects_) {
      if (is_shared_object(object)) return &object;
    }
    return nullptr;
  }

  static bool exports_query(const LoadedObject& object) {
    llvm::Expected<std::unique_ptr<llvm::object::Binary>> binary = llvm::object::createBinary(*object.bytes);
    if (!binary) {
      llvm::consumeError(binary.takeError());
      return false;
    }
    for (const llvm::object::SymbolRef& symbol :
         llvm::cast<llvm::object::ELFObjectFileBase>(**binary).getDynamicSymbolIterators()) {
      llvm::Expected<llvm::StringRef> name = symbol.getName();
      if (name && *name == layout::kQueryName) return true;
      if (!name) llvm::consumeError(name.takeError());
    }
    return false;
  }

  FailureOr<Variant> take(const LoadedObject& object) const {
    if (!exports_query(object)) {
      return emitError(object.location, "The object '") << object.path << "' is a shared object that exports no "
                                                        << layout::kQueryName << ", so nothing in it can be found.";
    }
    if (objects_.size() != 1) {
      return emitError(object.location, "The object '")
             << object.path << "' is a finished library; " << objects_.size() - 1
             << " further objects are given beside it, and nothing is linked to one.";
    }
    if (const llvm::StringRef reason = why_not_loaded(object.bytes->getBuffer()); !reason.empty()) {
      return emitError(object.location, "The object '") << object.path << "' has " << reason << ".";
    }
    const llvm::StringRef bytes = object.bytes->getBuffer();
    return Variant{format_name(options_.architecture), std::vector<char>(bytes.begin(), bytes.end())};
  }

  bool defines(llvm::StringRef symbol) const {
    return llvm::any_of(objects_,
                        [&](const LoadedObject& object) { return llvm::is_contained(object.defined, symbol.str()); });
  }

  LogicalResult check_kernels() const {
    bool good = true;
    for (const EntryPoint& kernel : kernels_) {
      if (defines(kernel.name)) continue;
      emitError(location_, "The executable '")
          << name_ << "' exports the kernel '" << kernel.name << "', which no object defines, without a function "
          << layout::kQueryName << "; " << describe_without(objects_, kernel.name);
      good = false;
    }
    return mlir::success(good);
  }

  // Bitcode is compiled for each level; machine code is what it is.
  LogicalResult compile_levels() {
    TargetOptions levels = options_;
    const bool only_bitcode = llvm::all_of(objects_, [](const LoadedObject& each) { return each.is_bitcode; });
    if (!only_bitcode || has_query_) levels.levels = {Level::kBaseline};
    std::vector<TargetInfo> targets;
    for (const Level level : levels_of(levels)) targets.push_back(target_info(options_.architecture, level));
    for (const TargetInfo& target : targets) {
      std::string problem = compile(target, targets);
      if (!problem.empty()) return emitError(location_) << problem;
    }
    return mlir::success();
  }

  // Table, query function and the bitcode to an object; empty or what went wrong.
  std::string compile(const TargetInfo& target, const std::vector<TargetInfo>& targets) {
    llvm::LLVMContext context;
    llvm::Module module(name_, context);
    std::string problem;
    const std::unique_ptr<llvm::TargetMachine> machine = make_target_machine(target, problem);
    if (!machine) return problem;
    module.setTargetTriple(target.triple);
    module.setDataLayout(machine->createDataLayout());
    const bool is_first = made_.empty();
    if (has_query_) {
      module.getOrInsertFunction(layout::kQueryName, llvm::Type::getVoidTy(context));
    } else {
      add_library(module, name_, target, kernels_, {}, specialization_count_);
      if (is_first) add_query(module, targets);
    }
    problem = link_bitcode(module, bitcode_of(objects_));
    if (!problem.empty()) return problem;
    make_private(module, {has_query_ ? std::string(layout::kQueryName) : "baton_library" + target.suffix});
    if (llvm::Function* query = module.getFunction(layout::kQueryName)) {
      query->setLinkage(llvm::GlobalValue::ExternalLinkage);
    }
    optimize(module, target, *machine);
    made_.push_back({"kernels" + target.suffix, emit_object(module, *machine)});
    return {};
  }

  FailureOr<Variant> link() const {
    std::vector<LinkInput> code;
    for (const LevelObject& level : made_) {
      code.push_back({level.name, llvm::StringRef(level.code.data(), level.code.size())});
    }
    return link_executable({name_, location_, options_.architecture}, std::move(code), objects_);
  }

  std::string name_;
  Location location_;
  const std::vector<EntryPoint>& kernels_;
  unsigned specialization_count_;
  const TargetOptions& options_;
  std::vector<LoadedObject> objects_;
  std::vector<LevelObject> made_;
  bool has_query_ = false;
};

}  // namespace

FailureOr<Variant> build_user_library(llvm::StringRef name, Location location, const std::vector<EntryPoint>& kernels,
                                      unsigned specialization_count, const TargetOptions& options,
                                      llvm::ArrayRef<Object> objects) {
  const bool is_x86 = options.architecture == Architecture::kX86_64;
  FailureOr<std::vector<LoadedObject>> loaded =
      load_objects(objects, {is_x86 ? llvm::Triple::x86_64 : llvm::Triple::aarch64, options.object_search_paths});
  if (mlir::failed(loaded)) return failure();
  return UserLibrary(name, location, kernels, specialization_count, options, std::move(*loaded)).build();
}

}  // namespace baton::compiler_lite::codegen::cpu
