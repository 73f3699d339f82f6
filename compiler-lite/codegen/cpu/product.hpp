// lower_products: matrix products on memrefs, as vector code for the registers that the target has.
#pragma once

#include "compiler-lite/codegen/cpu/lower_bodies.hpp"

namespace baton::compiler_lite::codegen::cpu {

// Products whose result has no contiguous rows, and tiny ones, are left for lower_to_loops.
mlir::LogicalResult lower_products(mlir::ModuleOp kernels, const BodyOptions& options);

}  // namespace baton::compiler_lite::codegen::cpu
