// Scalars of a dispatch travel as words of 32 bits (INPUT.md 1.3): index and what is smaller take one, i64 and f64 two,
// the low one first; floats as their bits, small integers zero-extended.
#pragma once

#include "llvm/ADT/SmallVector.h"
#include "mlir/IR/Builders.h"

namespace baton::compiler_lite::schedule {

// Zero for types that can't travel so.
unsigned word_count(mlir::Type type);

llvm::SmallVector<mlir::Value> pack_words(mlir::OpBuilder& builder, mlir::Location location, mlir::Value value);
// The reverse, in the kernel.
mlir::Value unpack_words(mlir::OpBuilder& builder, mlir::Location location, mlir::ValueRange words, mlir::Type type);

}  // namespace baton::compiler_lite::schedule
