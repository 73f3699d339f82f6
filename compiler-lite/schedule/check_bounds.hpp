// check_bounds: what the program's operations on tensors ask of sizes and indices, as comparisons on the host.
//
// Types leave sizes open, and callers and data bring them: dimensions that must be equal (of elementwise operations, of
// products, of slices and what they are inserted into, ...), indices and slices that must lie inside, casts and
// reshapes that must fit. Each operation says so while it still has its own name, so that the failure names it. It runs
// before anything is fused; static shapes leave no code.
//
// What a kernel computes an index from on the host side's numbers alone is compared here too. Indices that come from
// data are left to the kernel (codegen/index_checks.hpp), which is told which ones by an attribute.
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace baton::compiler_lite::schedule {

mlir::LogicalResult check_bounds(mlir::ModuleOp module);

}  // namespace baton::compiler_lite::schedule
