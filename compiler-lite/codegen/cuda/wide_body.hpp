// compute_wide: what an operation's body makes of f32 where it names halves. Numbers that are on their way from f32 to f32 need
// not be rounded to halves in between.
#pragma once

#include "compiler-lite/codegen/attention_mask.hpp"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace baton::compiler_lite::codegen::cuda {

// The first result, in f32, with loops at `point`. Operands are of the types that the body takes, or of f32 in place of
// halves. With `counts` the choice of that mask is made: for scores that count.
mlir::Value compute_wide(mlir::OpBuilder& builder, mlir::linalg::GenericOp op, mlir::ValueRange point,
                         mlir::ValueRange operands, const AttentionMask* counts);

}  // namespace baton::compiler_lite::codegen::cuda
