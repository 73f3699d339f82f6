// factors: kernels that factor a matrix which a block of threads keeps in shared memory, column after column (codegen/matrix_work.hpp says
// what each makes). cholesky, lu and reflections write them; held_matrix is what they have in common.
#pragma once

#include "compiler-lite/codegen/gpu/features.hpp"

namespace baton::compiler_lite::codegen::gpu {

// Writes the code of a kernel with kFactors.
void write_factors_kernel(mlir::func::FuncOp kernel, const Features& features);

}  // namespace baton::compiler_lite::codegen::gpu
