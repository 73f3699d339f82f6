// half_extremes: around a fault of LLVM 19 on x86, which made the larger of zero and NaN in f16 zero.
//
// f16 computes in f32 here, but LLVM makes the maximum and the minimum of two extended numbers one of f16 again. For vectors
// of f16 instruction selection then compares the result with zero by ucomiss, and takes "unordered" for "equal". It also
// takes these vectors apart. In f32 they are right, and a few instructions.
#pragma once

namespace llvm {
class Module;
}

namespace baton::compiler_lite::codegen {

// After all passes that would undo it.
void widen_half_extremes(llvm::Module& module);

}  // namespace baton::compiler_lite::codegen
