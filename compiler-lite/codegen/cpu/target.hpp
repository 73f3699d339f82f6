// What LLVM must know of each architecture and level.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "compiler-lite/codegen/cpu/executable.hpp"

namespace llvm {
class TargetMachine;
}

namespace baton::compiler_lite::codegen::cpu {

struct TargetInfo {
  std::string triple;
  std::string cpu;
  std::string features;
  std::string suffix;     // Of this level's symbols.
  unsigned vector_bytes;  // A register.
  unsigned vector_registers;
  bool has_fma;             // Fused multiply-add without a call.
  bool has_rounding;        // floor and friends without a call.
  uint64_t processor_bits;  // What baton_processor.data[0] must have.
};

TargetInfo target_info(Architecture architecture, Level level);
// The levels to build, best last.
std::vector<Level> levels_of(const TargetOptions& options);
std::string format_name(Architecture architecture);
// Null with a message when this LLVM was built without the target.
std::unique_ptr<llvm::TargetMachine> make_target_machine(const TargetInfo& info, std::string& message);

}  // namespace baton::compiler_lite::codegen::cpu
