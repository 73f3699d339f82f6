// Linear maps: where an operand of a linalg operation is read or written, as a number for each loop and dimension.
#pragma once

#include <optional>

#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/AffineMap.h"

namespace baton::compiler_lite::codegen {

// By loop: how far a step of it goes along one dimension. No negative numbers, and nothing is added to their sum.
using Steps = llvm::SmallVector<int64_t>;

// Nothing for an expression that is something else: turned round, moved, divided.
std::optional<Steps> linear_steps(mlir::AffineExpr expression, unsigned loop_count);
// For each result of `map`; nothing when one of them is something else.
std::optional<llvm::SmallVector<Steps>> linear_steps(mlir::AffineMap map);

}  // namespace baton::compiler_lite::codegen
