// turn_blocks: what is written along rows and read along columns is read in blocks that are turned round in registers.
//
// Read element by element, each line of the cache is wanted once in each row of the result, and where rows are a power of
// two apart all of them fall on the same set. A block of vectors is read once, turned by shuffles and left on the stack,
// where loops read it along rows.
#pragma once

#include "compiler-lite/codegen/cpu/lower_bodies.hpp"

namespace baton::compiler_lite::codegen::cpu {

// Elementwise operations are left as loops over operations on blocks, for lower_to_loops; what is less than a block at
// the edges is read as before.
void turn_blocks(mlir::ModuleOp kernels, const BodyOptions& options);

}  // namespace baton::compiler_lite::codegen::cpu
