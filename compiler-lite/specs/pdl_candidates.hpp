// Compares a pdl.pattern with a program, to say why it does not match. The matching itself is MLIR's.
#pragma once

#include "compiler-lite/specs/match_log.hpp"
#include "mlir/Dialect/PDL/IR/PDLOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace baton::compiler_lite::specs {

// The constraint that patterns may name beside those of PDL: `type` is a ranked tensor of `element`.
inline constexpr llvm::StringLiteral kCheckElementType = "checkTensorElementType";
bool is_tensor_of(mlir::Type type, mlir::Type element);

// Tells the log of the pattern, and of each operation of the program that it could end in and does not.
void log_candidates(mlir::pdl::PatternOp pattern, mlir::ModuleOp program, MatchLog& log);

}  // namespace baton::compiler_lite::specs
