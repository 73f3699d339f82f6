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

// What not every architecture does.
struct Features {
  // Copies to shared memory that nobody waits for; products of bf16 on tensor cores, and of f16 in larger pieces.
  bool has_async_copy = false;
  // What a block may have of shared memory, by the programming guide; the device is asked again when it loads the code.
  int64_t shared_bytes_max = 64 * 1024;
  // Threads that run together and hand each other what they hold; else they meet in shared memory only, all of a block.
  bool has_warps = true;
};

struct TargetInfo {
  std::string arch;      // "sm_75"
  std::string features;  // The version of PTX, "+ptx65": the first that knows all we use there.
  std::string format;    // Of the variant: "cuda-ptx-compute_75".
  Features has = {};
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
