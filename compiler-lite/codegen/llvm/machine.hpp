// Machine: what the steps through LLVM must know of what they make code for; each target says it of its own.
//
// The folder is called as what it works with; its names stand in the namespace of codegen, where one called llvm would
// hide LLVM's.
#pragma once

#include <string>

namespace baton::compiler_lite::codegen {

struct Machine {
  std::string triple;
  std::string cpu;
  std::string features;
  unsigned vector_bytes;  // A register.
  bool has_fma;           // Fused multiply-add without a call.
  bool has_rounding;      // floor and friends without a call.
};

}  // namespace baton::compiler_lite::codegen
