#include "compiler-lite/codegen/target_of_device.hpp"

#include "llvm/ADT/STLExtras.h"

namespace baton::compiler_lite::codegen {

const Target* find_target_of_device(llvm::StringRef device) {
  for (const Target* target : all_targets()) {
    if (llvm::is_contained(target->facts().devices, device)) return target;
  }
  return nullptr;
}

}  // namespace baton::compiler_lite::codegen
