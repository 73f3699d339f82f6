// Code that every executable may need and no C library provides, compiled when Baton is built, for each architecture.
#pragma once

#include "compiler-lite/codegen/cpu/executable.hpp"
#include "llvm/ADT/StringRef.h"

namespace baton::compiler_lite::codegen::cpu {

// Bitcode of builtins/math.c: baton_math_<operation>_<f32|f64>, made to be inlined and vectorized.
llvm::StringRef math_bitcode(Architecture architecture);
// The same for GPUs of NVIDIA.
llvm::StringRef gpu_math_bitcode();
// An object of builtins/calls.c: what LLVM calls on its own (memcpy, memset, fmod, half conversions).
llvm::StringRef call_object(Architecture architecture);

}  // namespace baton::compiler_lite::codegen::cpu
