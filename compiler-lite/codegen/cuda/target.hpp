// What LLVM must know of each GPU architecture.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "llvm/ADT/StringRef.h"

namespace llvm {
class TargetMachine;
}

namespace baton::compiler_lite::codegen::cuda {

struct TargetInfo {
  std::string arch;      // "sm_75"
  std::string features;  // The version of PTX, "+ptx63": the first that knows the architecture.
  std::string format;    // Of the variant: "cuda-ptx-compute_75".
};

// What code is made for when nobody says: every device from it on compiles the PTX of it.
inline constexpr llvm::StringLiteral kDefaultArch = "sm_75";
inline constexpr llvm::StringLiteral kTriple = "nvptx64-nvidia-cuda";

// Nothing for what is no architecture, or none that this LLVM knows.
std::optional<TargetInfo> target_info(llvm::StringRef arch);
// "sm_75, ..., sm_90a"
std::string known_archs();
// Null with a message when this LLVM was built without the target.
std::unique_ptr<llvm::TargetMachine> make_target_machine(const TargetInfo& info, std::string& message);

}  // namespace baton::compiler_lite::codegen::cuda
