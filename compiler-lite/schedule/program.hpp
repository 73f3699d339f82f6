// Program: what all functions of a module share while they are scheduled: the devices, constants in their memory, and the
// initializer that makes them when the program is loaded.
#pragma once

#include <string>

#include "compiler-lite/dialects/hal_calls.hpp"
#include "compiler-lite/dialects/util/dialect.hpp"
#include "compiler-lite/placement/assignment.hpp"
#include "compiler-lite/schedule/executable.hpp"
#include "llvm/ADT/DenseMap.h"

namespace baton::compiler_lite::schedule {

class Program {
 public:
  Program(mlir::ModuleOp module, const Executables& executables, const placement::Devices& devices,
          const placement::Assignment& assignment, bool for_blocks, std::string* dump);

  mlir::ModuleOp module() const { return module_; }
  HalCalls& hal() { return hal_; }
  const Executables& executables() const { return executables_; }

  const placement::Devices& devices() const { return devices_; }
  // Where tensors and commands are.
  const placement::Assignment& assignment() const { return assignment_; }

  // A device at the place of `builder`, by its number.
  mlir::Value load_device(mlir::OpBuilder& builder, mlir::Location location, unsigned number);
  // The global that holds these elements in the memory of a device.
  std::string constant(mlir::DenseElementsAttr elements, mlir::Location location, unsigned device);
  // A global of this type, declared now; `stem` becomes unique.
  std::string add_global(llvm::StringRef stem, mlir::Type type, mlir::Location location, bool is_mutable = false);

  // Globals of tensors hold buffers from here on, with further globals for their sizes where these may change.
  mlir::LogicalResult convert_globals();
  // One for each size that the type of the global leaves open.
  llvm::ArrayRef<std::string> size_globals(llvm::StringRef global) const;

  // Where the initializer goes on; what comes first there is ready.
  mlir::OpBuilder& initializer() { return initializer_; }
  mlir::Value initializer_device(unsigned number) const { return initializer_devices_[number]; }

  // Whether one of its targets is a GPU, whose recordings are changed command by command.
  bool records_for_blocks() const { return for_blocks_; }

  bool wants_dump() const { return dump_ != nullptr; }
  void dump(const std::string& text) { *dump_ += text; }

  // Without use of a device there is no trace of one.
  // Fails where something was refused on the way, which was said.
  mlir::LogicalResult finish();

 private:
  mlir::ModuleOp module_;
  HalCalls hal_;
  const Executables& executables_;
  const placement::Devices& devices_;
  const placement::Assignment& assignment_;
  const bool for_blocks_;
  std::string* dump_;
  util::InitializerOp initializer_op_;
  mlir::OpBuilder initializer_;
  void find_devices();
  void erase_unused_device();

  bool refused_ = false;

  llvm::SmallVector<mlir::Value> initializer_devices_;
  std::vector<std::string> device_globals_;
  llvm::DenseMap<std::pair<mlir::Attribute, unsigned>, std::string> constants_;
  llvm::StringMap<unsigned> names_;
  llvm::StringMap<std::vector<std::string>> size_globals_;
};

}  // namespace baton::compiler_lite::schedule
