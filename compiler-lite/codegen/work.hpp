// count_flops: how many floating-point operations a dispatch of a kernel does, for who divides them by the time that it took
// (`--profile`).
//
// It counts what the program says, before anything is tiled, fused or vectorized: each loop nest's operations on floats, one
// for an addition, a product, a comparison's greater or less, or a function such as exp, two for a fused multiply-add.
// Conversions, integers and copies count nothing. Sizes that a dispatch passes are words of its constants.
#pragma once

#include <string>

#include "compiler-lite/codegen/kernel.hpp"

namespace baton::compiler_lite::codegen {

// A sum of products, "2*w0*w3 + 64", where w3 is word 3 of the dispatch's constants. Empty: there are none, or nobody knows how
// many: a loop that ends when it likes, a size that is computed inside.
std::string count_flops(mlir::func::FuncOp group, const Kernel& kernel);

}  // namespace baton::compiler_lite::codegen
