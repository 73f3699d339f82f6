// lu: factors with pivots, and the order in which exchanges leave rows (codegen/matrix_work.hpp). The lower factor is divided by heads when it
// is written: a turn needs one barrier less.
#pragma once

#include "compiler-lite/codegen/gpu/features.hpp"
#include "compiler-lite/codegen/matrix_work.hpp"

namespace baton::compiler_lite::codegen::gpu {

// Writes the code of such a kernel.
void write_lu(mlir::func::FuncOp kernel, FactorKind kind, const Features& features);

}  // namespace baton::compiler_lite::codegen::gpu
