// reflections: QR, and the product of its reflections (codegen/matrix_work.hpp). A warp has a column.
#pragma once

#include "compiler-lite/codegen/gpu/features.hpp"
#include "compiler-lite/codegen/matrix_work.hpp"

namespace baton::compiler_lite::codegen::gpu {

// Writes the code of such a kernel.
void write_reflections(mlir::func::FuncOp kernel, FactorKind kind, const Features& features);

}  // namespace baton::compiler_lite::codegen::gpu
