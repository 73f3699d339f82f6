// Targets by the names that people give to devices.
#pragma once

#include "compiler-lite/codegen/target.hpp"

namespace baton::compiler_lite::codegen {

// Null for a name that no target has.
const Target* find_target_of_device(llvm::StringRef device);

}  // namespace baton::compiler_lite::codegen
