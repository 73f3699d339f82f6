// What the objects of CUDA's users are, told from their first bytes.
#pragma once

#include "compiler-lite/codegen/user_objects.hpp"
#include "compiler-lite/device_linker.hpp"

namespace baton::compiler_lite::codegen::cuda {

bool is_ptx(const LoadedObject& object);
// Reads what PTX and cubins define for others; other kinds are opaque. A message for what is no device code.
mlir::FailureOr<bool> look_into_device_code(LoadedObject& object);

// How the vendor's linker is called.
struct LinkFor {
  std::string arch;
  DeviceLinker linker;
};
// Adds those of `symbols` to what an opaque object defines: the linker is asked with code that wants the symbol alone.
void find_optional_functions(std::vector<LoadedObject>& objects, const std::vector<std::string>& symbols,
                             const LinkFor& how);

}  // namespace baton::compiler_lite::codegen::cuda
