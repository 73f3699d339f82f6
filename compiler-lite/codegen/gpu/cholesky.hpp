// cholesky: lower factors, and the x of a x = b for a triangle (codegen/matrix_work.hpp). Numbers are divided by heads when they are written:
// a turn needs one barrier.
#pragma once

#include "compiler-lite/codegen/gpu/features.hpp"
#include "compiler-lite/codegen/matrix_work.hpp"

namespace baton::compiler_lite::codegen::gpu {

// Writes the code of such a kernel.
void write_cholesky(mlir::func::FuncOp kernel, FactorKind kind, const Features& features);

}  // namespace baton::compiler_lite::codegen::gpu
