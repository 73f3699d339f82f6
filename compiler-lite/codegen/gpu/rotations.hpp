// rotations: lines made orthogonal by turning two of them at a time, as a block of threads does it (codegen/matrix_work.hpp).
//
// Each line has a few threads. In a round every line is one's of a pair; the lines' numbers stay where they are, and who meets whom is
// a tournament: all pairs meet in one sweep.
#pragma once

#include "compiler-lite/codegen/gpu/features.hpp"

namespace baton::compiler_lite::codegen::gpu {

// Writes the code of a kernel with kRotations.
void write_rotations_kernel(mlir::func::FuncOp kernel, const Features& features);

}  // namespace baton::compiler_lite::codegen::gpu
