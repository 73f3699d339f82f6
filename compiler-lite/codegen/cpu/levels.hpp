// What LLVM must know of each architecture and level.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compiler-lite/codegen/cpu/executable.hpp"
#include "compiler-lite/codegen/llvm/machine.hpp"

namespace llvm {
class TargetMachine;
}

namespace baton::compiler_lite::codegen::cpu {

struct TargetInfo : Machine {
  std::string suffix;  // Of this level's symbols.
  unsigned vector_registers;
  uint64_t processor_bits;  // What baton_processor.data[0] must have.
};

TargetInfo target_info(Architecture architecture, Level level);
// The levels to build, best last.
std::vector<Level> levels_of(const TargetOptions& options);
// The best level that this machine's processor has.
Level host_level();
// A processor as compilers name it ("haswell", "neoverse-n1"; "generic" is every one of an architecture, "host" and "native" are
// this machine's), with "+avx2,-fma" beside its own features, or "host".
struct NamedProcessor {
  std::string name;
  std::string features;
};
struct LevelOfProcessor {
  // Nothing where the name says nothing about the architecture: this machine's processor about the other one.
  std::optional<Level> level;
  std::string problem;  // What is wrong with the name, and which ones there are.
};
// The best level that the processor has.
LevelOfProcessor level_of(Architecture architecture, const NamedProcessor& processor);
std::string format_name(Architecture architecture);
// Null with a message when this LLVM was built without the target.
std::unique_ptr<llvm::TargetMachine> make_target_machine(const TargetInfo& info, std::string& message);

}  // namespace baton::compiler_lite::codegen::cpu
