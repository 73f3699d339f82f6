// Small values of the llvm dialect, for those who lower to it by hand.
#pragma once

#include <cstdint>

#include "mlir/IR/Builders.h"

namespace baton::compiler_lite::codegen {

mlir::Value make_i32(mlir::OpBuilder& builder, mlir::Location location, int64_t value);
mlir::Value make_i64(mlir::OpBuilder& builder, mlir::Location location, int64_t value);
// Between a type and what it is in LLVM; folds away when the rest is lowered.
mlir::Value cast(mlir::OpBuilder& builder, mlir::Location location, mlir::Value value, mlir::Type type);

// The result of `op`, a constant of a dispatch, from its word of 32 bits: a smaller or other type takes its bits from
// the low end. Null after an error when it doesn't fit.
mlir::Value constant_in_word(mlir::OpBuilder& builder, mlir::Operation* op, mlir::Value word);

}  // namespace baton::compiler_lite::codegen
