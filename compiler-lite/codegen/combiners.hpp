// Combiners: the operations by which a reduction joins what it has so far with an element, and partial results with each other.
#pragma once

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace baton::compiler_lite::codegen {

// For each result the operation that joins two partial ones; empty when there is one that has none.
llvm::SmallVector<mlir::Operation*> combiners_of(mlir::linalg::GenericOp op);
// The `combiner`'s operation on these two.
mlir::Value combine(mlir::OpBuilder& builder, mlir::Operation* combiner, mlir::Value a, mlir::Value b);
// What changes nothing.
mlir::Value neutral_of(mlir::OpBuilder& builder, mlir::Location location, mlir::Operation* combiner);

}  // namespace baton::compiler_lite::codegen
