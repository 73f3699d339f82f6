// LLVM's machine for code of GPUs: what its optimizer works for on the way to PTX and SPIR-V.
#pragma once

#include <memory>
#include <string>

#include "compiler-lite/codegen/llvm/machine.hpp"

namespace llvm {
class TargetMachine;
}

namespace baton::compiler_lite::codegen::gpu {

// Of LLVM's only backend for GPUs that every Debian has: "sm_80" and "+ptx70", by default the oldest that all it knows
// of kernels' code is good for.
Machine machine_of(const std::string& arch = "sm_75", const std::string& features = "+ptx65");
// Null with a message when this LLVM was built without the target.
std::unique_ptr<llvm::TargetMachine> make_target_machine(const Machine& machine, std::string& message);

}  // namespace baton::compiler_lite::codegen::gpu
