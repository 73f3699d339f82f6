// make_by_element: an operation that makes a tensor element by element, in the order of its dimensions.
#pragma once

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace baton::compiler_lite::codegen {

using ElementWriter = llvm::function_ref<mlir::Value(mlir::OpBuilder&, mlir::Location, mlir::ValueRange)>;

// The body yields what `write` gives for the elements of `inputs`, which have the result's shape.
mlir::linalg::GenericOp make_by_element(mlir::OpBuilder& builder, mlir::Location location,
                                        llvm::ArrayRef<mlir::OpFoldResult> sizes, mlir::Type element,
                                        mlir::ValueRange inputs, ElementWriter write);

// The numbers of the element that a body of rank `rank` makes.
llvm::SmallVector<mlir::Value> this_element(mlir::OpBuilder& body, mlir::Location location, size_t rank);

}  // namespace baton::compiler_lite::codegen
