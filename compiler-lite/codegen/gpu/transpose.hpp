// lower_transpose: operations on elements that read along one dimension what they write along another.
//
// Transposes and other permutations in which the last dimension moves. Squares of what is read so pass through shared
// memory: threads read along the rows of the one and write along the rows of the other.
#pragma once

#include "compiler-lite/codegen/gpu/block.hpp"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace baton::compiler_lite::codegen::gpu {

// Writes what `op` does at `builder`, results along the loop `fastest`. False, and nothing has changed: `op` turns
// nothing, or it is one for other ways.
bool lower_transpose(mlir::OpBuilder& builder, mlir::linalg::GenericOp op, Block& block, unsigned fastest);

}  // namespace baton::compiler_lite::codegen::gpu
