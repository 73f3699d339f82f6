#include "compiler-lite/schedule/executable.hpp"

namespace baton::compiler_lite::schedule {
namespace {

std::string full_name(llvm::StringRef executable, llvm::StringRef key) { return (executable + "." + key).str(); }

}  // namespace

std::string global_on(unsigned device, const std::string& name) {
  return device == 0 ? name : name + ".on." + std::to_string(device);
}

Executable& Executables::add(llvm::StringRef name, mlir::Location location) {
  executables_.push_back(std::make_unique<Executable>(Executable{name.str(), location}));
  return *executables_.back();
}

EntryPoint& Executables::add_entry_point(Executable& executable, llvm::StringRef name, llvm::StringRef key) {
  const std::string symbol = full_name(executable.name, key);
  std::unique_ptr<EntryPoint>& entry = entry_points_[symbol];
  if (entry) return *entry;
  entry = std::make_unique<EntryPoint>();
  entry->name = name.str();
  entry->executable_global = "executable." + executable.name;
  entry->ordinal_global = "entry_point." + symbol;
  executable.entry_points.push_back(entry.get());
  return *entry;
}

const codegen::Kernel& Executables::add_kernel(codegen::Kernel kernel) {
  kernels_.push_back(std::make_unique<codegen::Kernel>(std::move(kernel)));
  return *kernels_.back();
}

EntryPoint* Executables::find(llvm::StringRef executable, llvm::StringRef key) const {
  const auto found = entry_points_.find(full_name(executable, key));
  return found == entry_points_.end() ? nullptr : found->second.get();
}

const EntryPoint* Executables::find(mlir::SymbolRefAttr symbol) const {
  if (symbol.getNestedReferences().empty()) return nullptr;
  return find(symbol.getRootReference().getValue(), symbol.getLeafReference().getValue());
}

}  // namespace baton::compiler_lite::schedule
