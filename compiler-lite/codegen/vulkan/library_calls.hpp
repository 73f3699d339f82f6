// LibraryCalls: the functions of libraries that kernels call, as declarations in the kernels' module, each behind a function
// of our own that takes values as kernels have them. What is linked when the program is loaded is only declared: the driver
// brings the values to what it finds (hal/drivers/vulkan/linked_functions.hpp).
#pragma once

#include <map>
#include <set>
#include <string>

#include "compiler-lite/codegen/vulkan/spirv_library.hpp"
#include "compiler-lite/codegen/vulkan/spirv_writer.hpp"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"

namespace baton::compiler_lite::codegen::vulkan {

class LibraryCalls {
 public:
  struct Callee {
    Id function = 0;
    Id result = 0;  // Its type.
  };

  // Declares the libraries' functions that `kernels` call, before any kernel is written. Returns what is wrong, or an
  // empty text.
  std::string declare(mlir::ModuleOp kernels, llvm::ArrayRef<SpirvLibrary> libraries, SpirvWriter& writer);
  // Null: no library has it.
  const Callee* find(llvm::StringRef name) const;
  // The same for what is found when the program is loaded: what `kernels` declare by these names.
  std::string declare_dynamic(mlir::ModuleOp kernels, const std::set<std::string>& imports, SpirvWriter& writer);
  // Whether a library is called.
  bool has_libraries() const { return has_libraries_; }

 private:
  std::map<std::string, Callee, std::less<>> callees_;
  bool has_libraries_ = false;
};

}  // namespace baton::compiler_lite::codegen::vulkan
