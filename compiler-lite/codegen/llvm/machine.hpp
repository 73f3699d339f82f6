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
  unsigned vector_bytes = 0;  // A register.
  bool has_fma = false;       // Fused multiply-add without a call.
  bool has_rounding = false;  // floor and friends without a call.
  bool vectorizes = true;     // A thread works on vectors; on GPUs it works on elements, and threads are the vector.
  // Vectors of operations that stand beside each other, without a loop. Of halves on GPUs, in pairs; on AVX-512 LLVM 19
  // takes elements from wrong places (tests/golden/compile/loop_kernels.test), and nothing was faster for them.
  bool joins_operations = false;
};

}  // namespace baton::compiler_lite::codegen
