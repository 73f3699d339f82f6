// What LLVM must know of each GPU architecture.
#pragma once

#include <optional>
#include <string>

#include "compiler-lite/codegen/gpu/features.hpp"
#include "llvm/ADT/StringRef.h"

namespace baton::compiler_lite::codegen::cuda {

struct TargetInfo {
  std::string arch;      // "sm_75"
  std::string features;  // The version of PTX, "+ptx65": the first that knows all we use there.
  std::string format;    // Of the variant: "cuda-ptx-compute_75".
  gpu::Features has = {};
};

// What code is made for when nobody says: every device from it on compiles the PTX of it.
inline constexpr llvm::StringLiteral kDefaultArch = "sm_75";

// Nothing for what is no architecture, or none that this LLVM knows.
std::optional<TargetInfo> target_info(llvm::StringRef arch);
// "sm_75, ..., sm_90a", and those before: "sm_52, ..., sm_72"
std::string known_archs();
std::string older_archs();

}  // namespace baton::compiler_lite::codegen::cuda
