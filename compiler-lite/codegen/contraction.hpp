// lower_contractions: matrix products on memrefs, as vector code for the registers that the target has.
#pragma once

#include "compiler-lite/codegen/lower_bodies.hpp"

namespace baton::compiler_lite::codegen {

// Products whose result has no contiguous rows, and tiny ones, are left for lower_to_loops.
mlir::LogicalResult lower_contractions(mlir::ModuleOp kernels, const BodyOptions& options);

}  // namespace baton::compiler_lite::codegen
