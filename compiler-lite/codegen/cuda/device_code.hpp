// What the objects of CUDA's users are, told from their first bytes.
#pragma once

#include "compiler-lite/codegen/user_objects.hpp"
#include "compiler-lite/device_linker.hpp"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace baton::compiler_lite::codegen::cuda {

bool is_ptx(const LoadedObject& object);
// Reads what PTX and cubins define for others; other kinds are opaque. A message for what is no device code.
mlir::FailureOr<bool> look_into_device_code(LoadedObject& object);

// How the vendor's linker is called.
struct LinkFor {
  std::string arch;
  DeviceLinker linker;
};
// Adds the symbols of those of `functions` that an opaque object defines to what it is known to define: the linker is
// asked, with code that wants that function alone.
void find_optional_functions(std::vector<LoadedObject>& objects, llvm::ArrayRef<mlir::func::FuncOp> functions,
                             const LinkFor& how);

}  // namespace baton::compiler_lite::codegen::cuda
