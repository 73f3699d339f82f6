// Code that every executable may need and no C library provides, compiled when Baton is built, for each architecture.
// LLVM's architectures are no targets: kernels for CUDA and for Vulkan have one in common (gpu/machine.hpp).
#pragma once

#include "compiler-lite/codegen/llvm/machine.hpp"
#include "llvm/ADT/StringRef.h"

namespace baton::compiler_lite::codegen {

// Bitcode of builtins/math.c: baton_math_<operation>_<f32|f64>, made to be inlined and vectorized. With fused
// multiply-add more of it is done in f32. Empty for an architecture that has none.
llvm::StringRef math_bitcode(const Machine& target);
// An object of builtins/calls.c for a processor: what LLVM calls on its own (memcpy, memset, fmod, half conversions).
llvm::StringRef call_object(llvm::StringRef triple);
// An object of builtins/c_math.c: functions of math.h for what users bring.
llvm::StringRef c_math_object(llvm::StringRef triple);

}  // namespace baton::compiler_lite::codegen
